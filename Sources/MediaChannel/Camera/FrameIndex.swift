/// Which packet of a track begins which frame.
struct FrameIndex {
    private var entries: [(sequence: Int64, pts: Int64)] = []
    private var head = 0

    init() {}

    /// Adds a frame, and forgets those whose packets all lie before `oldest`.
    mutating func append(sequence: Int64, pts: Int64, oldest: Int64) {
        entries.append((sequence, pts))
        while head + 1 < entries.count, entries[head + 1].sequence <= oldest { head += 1 }
        if head > 1024, head > entries.count / 2 {
            entries.removeFirst(head)
            head = 0
        }
    }

    func pts(ofSequence sequence: Int64) -> Int64? {
        let next = partition { $0.sequence > sequence }
        guard next > head else { return nil }
        return entries[next - 1].pts
    }

    /// Scans from the newest back: the wanted frame is at most a group of pictures away, and a round's restart
    /// must not hide it.
    func firstSequence(notBefore pts: Int64) -> Int64? {
        var found: Int64?
        for entry in entries[head...].reversed() {
            guard entry.pts >= pts else { break }
            found = entry.sequence
        }
        return found
    }

    private func partition(_ isBehind: ((sequence: Int64, pts: Int64)) -> Bool) -> Int {
        var low = head
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if isBehind(entries[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
