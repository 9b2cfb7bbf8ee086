/// The numbers that have arrived: all up to `cumulative`, and runs after gaps (RFC 9260 §6.2).
struct ReceivedNumbers {
    enum Verdict {
        case new
        case duplicate
        /// Too far ahead, or one gap too many: dropped, so that the peer sends it again.
        case refused
    }

    struct Run: Equatable {
        var first: Int64
        var last: Int64
    }

    private(set) var cumulative: Int64
    private(set) var runs: [Run] = []
    private(set) var duplicates: [UInt32] = []

    private let maximumDistance: Int64
    private let maximumRuns: Int
    private static let maximumDuplicates = 16

    init(initialTSN: UInt32, configuration: SCTPConfiguration) {
        cumulative = Int64(initialTSN) - 1
        maximumDistance = configuration.maximumTSNDistance
        maximumRuns = configuration.maximumGapBlocks
    }

    mutating func judge(_ tsn: Int64) -> Verdict {
        guard tsn > cumulative else { return noteDuplicate(tsn) }
        guard tsn - cumulative <= maximumDistance else { return .refused }
        let place = firstRun(endingAtOrAfter: tsn)
        if place < runs.count, runs[place].first <= tsn { return noteDuplicate(tsn) }
        let joins =
            tsn == cumulative + 1 || (place < runs.count && runs[place].first == tsn + 1)
            || (place > 0 && runs[place - 1].last == tsn - 1)
        return joins || runs.count < maximumRuns ? .new : .refused
    }

    /// Call only after `judge` has returned `.new`.
    mutating func insert(_ tsn: Int64) {
        if tsn == cumulative + 1 {
            cumulative = tsn
            if let first = runs.first, first.first == cumulative + 1 {
                cumulative = first.last
                runs.removeFirst()
            }
            return
        }
        let place = firstRun(endingAtOrAfter: tsn)
        let joinsNext = place < runs.count && runs[place].first == tsn + 1
        if place > 0, runs[place - 1].last == tsn - 1 {
            runs[place - 1].last = joinsNext ? runs[place].last : tsn
            if joinsNext { runs.remove(at: place) }
        } else if joinsNext {
            runs[place].first = tsn
        } else {
            runs.insert(Run(first: tsn, last: tsn), at: place)
        }
    }

    /// FORWARD TSN: stops waiting for anything up to this number (RFC 3758 §3.6).
    mutating func forward(to tsn: Int64) {
        guard tsn > cumulative else { return }
        cumulative = tsn
        runs.removeAll { $0.last <= tsn }
        if let first = runs.first, first.first <= tsn + 1 {
            cumulative = first.last
            runs.removeFirst()
        }
    }

    mutating func acknowledgement(window: Int) -> SCTPAcknowledgement {
        defer { duplicates = [] }
        return SCTPAcknowledgement(
            cumulativeTSN: UInt32(truncatingIfNeeded: cumulative), window: UInt32(clamping: window),
            gaps: runs.map { run in
                SCTPAcknowledgement.GapBlock(
                    start: UInt16(clamping: run.first - cumulative), end: UInt16(clamping: run.last - cumulative))
            },
            duplicates: duplicates)
    }

    private mutating func noteDuplicate(_ tsn: Int64) -> Verdict {
        if duplicates.count < Self.maximumDuplicates { duplicates.append(UInt32(truncatingIfNeeded: tsn)) }
        return .duplicate
    }

    private func firstRun(endingAtOrAfter tsn: Int64) -> Int {
        // The usual case: the number goes after the last run.
        guard let last = runs.last, last.last >= tsn else { return runs.count }
        var low = 0
        var high = runs.count - 1
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].last >= tsn { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
