import NIOCore

/// The chunks that were sent and are not acknowledged in sequence (RFC 9260 §6.2.1, §7.2.4; RFC 3758 §3.5).
struct Flight {
    struct Result {
        var acknowledgedBytes = 0
        var hasAdvanced = false
        /// True when a chunk was reported missing for the third time.
        var hasLoss = false
        var roundTrip: TimeAmount?
    }

    /// The chunks from `cumulative + 1` on, without gaps, after `head` finished ones.
    private var storage: ContiguousArray<SentChunk> = []
    private var head = 0

    /// The last number that the peer has acknowledged in sequence.
    private(set) var cumulative: Int64

    /// RFC 3758's Advanced.Peer.Ack.Point: every chunk up to it is acknowledged or abandoned.
    private(set) var advanced: Int64

    /// Payload bytes in flight.
    private(set) var byteCount = 0

    /// Payload bytes not acknowledged in sequence, plus `overhead` for each message's last chunk.
    private(set) var charge = 0
    private(set) var lostCount = 0
    private var firstLost = Int64.max
    private var highestGapEnd: Int64
    private var acknowledgedInGaps = 0
    private(set) var outstandingByStream: [UInt16: Int] = [:]
    private let overhead: Int

    /// The lowest number that may measure a round trip: one measurement per round trip.
    private var nextMeasurement: Int64

    init(initialTSN: UInt32, overhead: Int) {
        cumulative = Int64(initialTSN) - 1
        advanced = cumulative
        highestGapEnd = cumulative
        nextMeasurement = cumulative
        self.overhead = overhead
    }

    var count: Int { storage.count - head }
    var isEmpty: Bool { count == 0 }
    var nextTSN: Int64 { cumulative + Int64(count) + 1 }
    var lastTSN: Int64 { nextTSN - 1 }

    /// True while T3-rtx must run.
    var isWaiting: Bool { byteCount > 0 || advanced > cumulative || lostCount > 0 }

    private func index(_ tsn: Int64) -> Int { head + Int(tsn - cumulative - 1) }

    mutating func append(_ chunk: SentChunk) {
        byteCount += chunk.isInFlight ? chunk.payload.readableBytes : 0
        charge += chunk.payload.readableBytes + (chunk.flags.contains(.ending) ? overhead : 0)
        outstandingByStream[chunk.stream, default: 0] += 1
        storage.append(chunk)
    }

    // MARK: Acknowledgements

    /// - Returns: `nil` when the peer acknowledges a chunk that was never sent.
    mutating func acknowledge(
        _ sack: SCTPAcknowledgement, isRecovering: Bool, at now: NIODeadline
    ) -> Result? {
        let point = sack.cumulativeTSN.unwrapped(near: cumulative)
        var result = Result()
        // An older SACK, overtaken by a newer one.
        guard point >= cumulative else { return result }
        guard point <= lastTSN else { return nil }
        var highestNew = cumulative
        result.hasAdvanced = point > cumulative
        while cumulative < point {
            var chunk = storage[head]
            storage[head].payload = ByteBuffer()
            head += 1
            cumulative += 1
            if chunk.isAcknowledged { acknowledgedInGaps -= 1 } else { highestNew = cumulative }
            note(&chunk, in: &result, at: now)
            charge -= chunk.payload.readableBytes + (chunk.flags.contains(.ending) ? overhead : 0)
            if let count = outstandingByStream[chunk.stream] {
                outstandingByStream[chunk.stream] = count > 1 ? count - 1 : nil
            }
        }
        if head > 64, head * 2 > storage.count {
            storage.removeFirst(head)
            head = 0
        }
        advance()
        highestGapEnd = max(highestGapEnd, cumulative)
        if !sack.gaps.isEmpty || acknowledgedInGaps > 0 {
            acknowledgeGaps(sack.gaps, highestNew: highestNew, isRecovering: isRecovering, into: &result, at: now)
        }
        return result
    }

    /// Takes a chunk out of the flight and measures the round trip.
    private mutating func note(_ chunk: inout SentChunk, in result: inout Result, at now: NIODeadline) {
        if !chunk.isAcknowledged, !chunk.isAbandoned {
            result.acknowledgedBytes += chunk.payload.readableBytes
            // Karn's rule: a chunk that was sent twice measures nothing.
            if chunk.transmissions == 1, chunk.tsn >= nextMeasurement {
                result.roundTrip = now - chunk.sentAt
                nextMeasurement = cumulative + Int64(count) + 1
            }
        }
        if chunk.isInFlight {
            byteCount -= chunk.payload.readableBytes
            chunk.isInFlight = false
        }
        if chunk.isLost {
            lostCount -= 1
            chunk.isLost = false
            if lostCount == 0 { firstLost = .max }
        }
    }

    /// Makes one pass up to the end of the last gap block. Blocks must be in order and disjoint, so that no list of
    /// blocks costs more than one pass.
    private mutating func acknowledgeGaps(
        _ gaps: [SCTPAcknowledgement.GapBlock], highestNew: Int64, isRecovering: Bool, into result: inout Result,
        at now: NIODeadline
    ) {
        var highestNew = highestNew
        var tsn = cumulative + 1
        var missing: [Int64] = []
        for gap in gaps {
            let start = cumulative + Int64(gap.start)
            let end = min(cumulative + Int64(gap.end), lastTSN)
            // The number after the cumulative point cannot be in a gap block, or the point would include it.
            guard start > cumulative + 1, start >= tsn, end >= start else { break }
            passOver(tsn, to: start, &missing)
            for place in index(start)...index(end) where !storage[place].isAcknowledged {
                highestNew = max(highestNew, storage[place].tsn)
                var chunk = storage[place]
                note(&chunk, in: &result, at: now)
                chunk.isAcknowledged = true
                storage[place] = chunk
                acknowledgedInGaps += 1
            }
            tsn = end + 1
        }
        let reportedEnd = tsn - 1
        // The peer has discarded chunks that an earlier SACK reported after this SACK's last block.
        if highestGapEnd > reportedEnd {
            var ignored: [Int64] = []
            passOver(tsn, to: min(highestGapEnd, lastTSN) + 1, &ignored)
        }
        highestGapEnd = reportedEnd
        // "Highest TSN newly acknowledged": gaps before it count. In fast recovery every gap counts when the cumulative
        // point has advanced (RFC 9260 §7.2.4).
        let limit = isRecovering && result.hasAdvanced ? reportedEnd : highestNew
        for tsn in missing {
            let place = index(tsn)
            guard storage[place].isInFlight else { continue }
            guard storage[place].transmissions > 1 ? highestNew >= storage[place].barrier : tsn < limit else {
                continue
            }
            storage[place].misses += 1
            if storage[place].misses >= 3 {
                markLost(place)
                result.hasLoss = true
            }
        }
    }

    private mutating func passOver(_ from: Int64, to end: Int64, _ missing: inout [Int64]) {
        var tsn = from
        while tsn < end {
            let place = index(tsn)
            if storage[place].isAcknowledged {
                // The peer has reneged (§6.2.1).
                storage[place].isAcknowledged = false
                acknowledgedInGaps -= 1
                if !storage[place].isAbandoned {
                    storage[place].isInFlight = true
                    byteCount += storage[place].payload.readableBytes
                }
            }
            if storage[place].isInFlight { missing.append(tsn) }
            tsn += 1
        }
    }

    // MARK: Loss

    private mutating func markLost(_ place: Int) {
        guard storage[place].isInFlight else { return }
        storage[place].isInFlight = false
        storage[place].isLost = true
        storage[place].misses = 0
        byteCount -= storage[place].payload.readableBytes
        lostCount += 1
        firstLost = min(firstLost, storage[place].tsn)
    }

    /// T3-rtx expired: every chunk in flight counts as lost (§6.3.3 E3).
    mutating func markAllLost() {
        for place in head..<storage.count { markLost(place) }
    }

    /// The lost chunk with the lowest number.
    mutating func firstLostChunk() -> SentChunk? {
        guard lostCount > 0 else { return nil }
        var place = max(index(max(firstLost, cumulative + 1)), head)
        while place < storage.count, !storage[place].isLost { place += 1 }
        guard place < storage.count else { return nil }
        firstLost = storage[place].tsn
        return storage[place]
    }

    mutating func noteSentAgain(_ tsn: Int64, at now: NIODeadline) {
        let place = index(tsn)
        guard storage.indices.contains(place), storage[place].isLost else { return }
        storage[place].isLost = false
        storage[place].isInFlight = true
        storage[place].transmissions += 1
        storage[place].sentAt = now
        storage[place].barrier = nextTSN
        lostCount -= 1
        if lostCount == 0 { firstLost = .max }
        byteCount += storage[place].payload.readableBytes
    }

    // MARK: Abandoned messages

    /// Abandons all chunks of the message, which are adjacent.
    mutating func abandon(messageAt tsn: Int64) {
        let place = index(tsn)
        guard storage.indices.contains(place) else { return }
        let message = storage[place].message
        var start = place
        while start > head, storage[start - 1].message == message { start -= 1 }
        while start < storage.count, storage[start].message == message {
            if storage[start].isInFlight {
                storage[start].isInFlight = false
                byteCount -= storage[start].payload.readableBytes
            }
            if storage[start].isLost {
                storage[start].isLost = false
                lostCount -= 1
                if lostCount == 0 { firstLost = .max }
            }
            storage[start].isAbandoned = true
            start += 1
        }
    }

    /// True when the message's last chunk has not been sent yet.
    func isOpen(messageAt tsn: Int64) -> Bool {
        guard let last = storage.last, storage.indices.contains(index(tsn)) else { return false }
        return last.message == storage[index(tsn)].message && !last.flags.contains(.ending)
    }

    /// RFC 3758 §3.5 C1: moves over abandoned chunks that follow the newly acknowledged ones.
    private mutating func advance() {
        advanced = max(advanced, cumulative)
        while advanced < lastTSN, storage[index(advanced + 1)].isAbandoned { advanced += 1 }
    }

    /// Moves `advanced` over abandoned chunks. Returns the FORWARD TSN for the peer (RFC 3758 §3.5 C).
    mutating func forward(maximumStreams: Int) -> SCTPForwardTSN? {
        advance()
        guard advanced > cumulative else { return nil }
        var sequences: [UInt16: UInt16] = [:]
        var end = cumulative
        while end < advanced {
            let chunk = storage[index(end + 1)]
            if chunk.isAbandoned, !chunk.flags.contains(.unordered) {
                if sequences[chunk.stream] == nil, sequences.count >= maximumStreams { break }
                sequences[chunk.stream] = chunk.sequence
            }
            end += 1
        }
        advanced = end
        return SCTPForwardTSN(
            newCumulativeTSN: UInt32(truncatingIfNeeded: end),
            streams: sequences.sorted { $0.key < $1.key }.map { .init(stream: $0.key, sequence: $0.value) })
    }
}
