/// The session's state for one outgoing SSRC.
struct SRTPOutgoingStream {
    let ssrc: UInt32

    /// The 48-bit index of the newest packet: roll-over counter and sequence number (RFC 3711 §3.3.1).
    private(set) var highest: UInt64?

    /// A digest of each of the last packets' headers, addressed by the index's low bits; 0 for none. A number may be
    /// reused only with the same header.
    private var headers: [UInt32] = []

    /// The last SRTCP index, which has 31 bits.
    var controlIndex: UInt32 = 0

    init(ssrc: UInt32) {
        self.ssrc = ssrc
    }

    enum Verdict {
        case new(index: UInt64)
        case again(index: UInt64)
        case tooOld
        case differs
        case keyExpired
    }

    func verdict(on sequenceNumber: UInt16, header: UInt32, window: Int) -> Verdict {
        guard let highest else { return .new(index: UInt64(sequenceNumber)) }
        guard let index = SRTPIndex.estimate(sequenceNumber, after: highest) else { return .tooOld }
        if index > highest { return index > SRTPIndex.maximum ? .keyExpired : .new(index: index) }
        guard highest - index < UInt64(window) else { return .tooOld }
        let sent = headers[Int(index % UInt64(window))]
        return sent == header || sent == 0 ? .again(index: index) : .differs
    }

    mutating func insert(_ index: UInt64, header: UInt32, window: Int) {
        if headers.isEmpty { headers = Array(repeating: 0, count: window) }
        if let highest, index > highest + 1 {
            // Skipped numbers are unused.
            for passed in max(highest + 1, index - min(index, UInt64(window)))..<index {
                headers[Int(passed % UInt64(window))] = 0
            }
        }
        highest = max(highest ?? 0, index)
        headers[Int(index % UInt64(window))] = header
    }
}

/// The session's state for one incoming SSRC. Only authentic packets create it.
struct SRTPIncomingStream {
    let ssrc: UInt32
    var packets: ReplayWindow
    var controlPackets: ReplayWindow

    init(ssrc: UInt32, window: Int) {
        self.ssrc = ssrc
        packets = ReplayWindow(length: window)
        controlPackets = ReplayWindow(length: 128)
    }
}

/// The 48-bit packet index of a 16-bit sequence number.
enum SRTPIndex {
    static let maximum: UInt64 = (1 << 48) - 1

    /// The index nearest to the newest one (RFC 3711 §3.3.1, appendix A); `nil` for an index before the first roll-over
    /// counter.
    static func estimate(_ sequenceNumber: UInt16, after highest: UInt64) -> UInt64? {
        let distance = Int64(Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: highest)))
        let index = Int64(highest) + distance
        return index < 0 ? nil : UInt64(index)
    }
}
