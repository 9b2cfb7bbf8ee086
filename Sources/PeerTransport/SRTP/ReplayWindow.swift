/// The packet indices already received, among the newest (RFC 3711 §3.3.2). Indices do not wrap.
struct ReplayWindow {
    enum Verdict {
        case new
        case seen
        case tooOld
    }

    /// The number of indices in the window, a multiple of 64.
    let length: Int

    /// The highest index inserted; `nil` before the first.
    private(set) var highest: UInt64?

    /// One bit per index, addressed by the index's low bits.
    private var bits: [UInt64]

    init(length: Int) {
        self.length = (length + 63) / 64 * 64
        bits = Array(repeating: 0, count: self.length / 64)
    }

    func verdict(on index: UInt64) -> Verdict {
        guard let highest, index <= highest else { return .new }
        guard highest - index < UInt64(length) else { return .tooOld }
        let place = Int(index % UInt64(length))
        return bits[place / 64] & (1 << UInt64(place % 64)) == 0 ? .new : .seen
    }

    /// Records an index, new or seen.
    mutating func insert(_ index: UInt64) {
        if let highest, index > highest {
            if index - highest >= UInt64(length) {
                for word in bits.indices { bits[word] = 0 }
            } else {
                // The bits in between belong to indices of a whole window ago.
                var passed = highest + 1
                while passed < index {
                    clear(passed)
                    passed += 1
                }
            }
        }
        if index >= highest ?? 0 { highest = index }
        let place = Int(index % UInt64(length))
        bits[place / 64] |= 1 << UInt64(place % 64)
    }

    private mutating func clear(_ index: UInt64) {
        let place = Int(index % UInt64(length))
        bits[place / 64] &= ~(1 << UInt64(place % 64))
    }
}
