import NIOCore

/// A complete user message.
struct SCTPMessage: Equatable {
    var stream: UInt16
    var payloadProtocol: UInt32
    var payload: ByteBuffer
}

/// Reassembles messages and puts each stream in order (RFC 9260 §6.5, §6.6, §6.9).
struct Reassembly {
    enum Violation: Error {
        case messageTooLong
        case mixedFragments
        case outOfMemory
    }

    /// Fragments of one message with consecutive numbers.
    private struct Run {
        var first: Int64
        var last: Int64
        var hasBeginning: Bool
        var hasEnding: Bool
        var isUnordered: Bool
        var stream: UInt16
        var sequence: UInt16
        var payloadProtocol: UInt32
        var payload: ByteBuffer
    }

    private struct Stream {
        var nextSequence: UInt16 = 0
        /// Complete messages that wait for an earlier one.
        var early: [UInt16: SCTPMessage] = [:]
    }

    /// In order of their numbers, without overlap.
    private var runs: ContiguousArray<Run> = []
    private var streams: [UInt16: Stream] = [:]

    /// The bytes held, plus `overhead` for each run and each early message.
    private(set) var heldByteCount = 0
    private(set) var delivered: CircularBuffer<SCTPMessage> = []

    private let maximumMessageSize: Int
    private let limit: Int
    private static let overhead = 256

    init(_ configuration: SCTPConfiguration) {
        maximumMessageSize = configuration.maximumMessageSize
        // The window plus one message, because the next chunk in sequence must always be accepted.
        limit = configuration.receiveWindow * 2
    }

    mutating func nextMessage() -> SCTPMessage? {
        delivered.popFirst()
    }

    /// Takes a chunk with a new number.
    mutating func insert(_ chunk: SCTPDataChunk, tsn: Int64) throws(Violation) {
        let isUnordered = chunk.flags.contains(.unordered)
        guard !chunk.flags.isSuperset(of: [.beginning, .ending]) else {
            let message = SCTPMessage(
                stream: chunk.stream, payloadProtocol: chunk.payloadProtocol, payload: chunk.payload)
            return try complete(message, isUnordered: isUnordered, sequence: chunk.sequence, isHeld: false)
        }
        var place = firstRun(endingAtOrAfter: tsn)
        if !chunk.flags.contains(.beginning), place > 0, runs[place - 1].last == tsn - 1 {
            place -= 1
            try check(chunk, continues: runs[place])
            runs[place].last = tsn
            runs[place].hasEnding = chunk.flags.contains(.ending)
            runs[place].payload.writeImmutableBuffer(chunk.payload)
            heldByteCount += chunk.payload.readableBytes
        } else {
            // Copies the payload, because a slice would keep the whole datagram.
            var payload = ByteBuffer()
            payload.reserveCapacity(chunk.payload.readableBytes)
            payload.writeImmutableBuffer(chunk.payload)
            runs.insert(
                Run(
                    first: tsn, last: tsn, hasBeginning: chunk.flags.contains(.beginning),
                    hasEnding: chunk.flags.contains(.ending), isUnordered: isUnordered, stream: chunk.stream,
                    sequence: chunk.sequence, payloadProtocol: chunk.payloadProtocol, payload: payload), at: place)
            heldByteCount += payload.readableBytes + Self.overhead
        }
        joinNext(place)
        guard runs[place].payload.readableBytes <= maximumMessageSize else { throw .messageTooLong }
        if runs[place].hasBeginning, runs[place].hasEnding {
            let run = remove(place)
            let message = SCTPMessage(
                stream: run.stream, payloadProtocol: run.payloadProtocol, payload: run.payload)
            try complete(message, isUnordered: run.isUnordered, sequence: run.sequence, isHeld: true)
        }
        guard heldByteCount <= limit else { throw .outOfMemory }
    }

    /// FORWARD TSN: drops what is incomplete up to this number (RFC 3758 §3.6).
    mutating func forward(to tsn: Int64, streams skipped: [SCTPForwardTSN.Stream]) {
        for run in runs where run.first <= tsn { heldByteCount -= run.payload.readableBytes + Self.overhead }
        runs.removeAll { $0.first <= tsn }
        for skip in skipped {
            var stream = streams[skip.stream] ?? Stream()
            guard !skip.sequence.precedes(stream.nextSequence) else { continue }
            // Complete messages before that point are still delivered.
            let passed = stream.early.keys.filter { !skip.sequence.precedes($0) }
                .sorted { $0 &- stream.nextSequence < $1 &- stream.nextSequence }
            for sequence in passed {
                if let message = stream.early.removeValue(forKey: sequence) { release(message) }
            }
            stream.nextSequence = skip.sequence &+ 1
            deliverEarly(&stream)
            streams[skip.stream] = stream
        }
    }

    /// The peer resets these streams (RFC 6525 §5.2.2); empty means all.
    mutating func reset(_ ids: [UInt16]) {
        for id in ids.isEmpty ? Array(streams.keys) : ids {
            for message in streams[id]?.early.values ?? [:].values {
                heldByteCount -= message.payload.readableBytes + Self.overhead
            }
            streams[id] = nil
        }
    }

    private mutating func complete(
        _ message: SCTPMessage, isUnordered: Bool, sequence: UInt16, isHeld: Bool
    ) throws(Violation) {
        guard message.payload.readableBytes <= maximumMessageSize else { throw .messageTooLong }
        if isUnordered {
            delivered.append(message)
            return
        }
        let next = streams[message.stream]?.nextSequence ?? 0
        if sequence == next {
            delivered.append(message)
            var stream = streams[message.stream] ?? Stream()
            stream.nextSequence = next &+ 1
            if !stream.early.isEmpty { deliverEarly(&stream) }
            streams[message.stream] = stream
            return
        }
        // The message was already delivered or is already held: a correct sender does not send it.
        guard !sequence.precedes(next), streams[message.stream]?.early[sequence] == nil else { return }
        var message = message
        if !isHeld {
            var copy = ByteBuffer()
            copy.reserveCapacity(message.payload.readableBytes)
            copy.writeImmutableBuffer(message.payload)
            message.payload = copy
        }
        heldByteCount += message.payload.readableBytes + Self.overhead
        streams[message.stream, default: Stream()].early[sequence] = message
        guard heldByteCount <= limit else { throw .outOfMemory }
    }

    private mutating func deliverEarly(_ stream: inout Stream) {
        while let message = stream.early.removeValue(forKey: stream.nextSequence) {
            release(message)
            stream.nextSequence &+= 1
        }
    }

    private mutating func release(_ message: SCTPMessage) {
        heldByteCount -= message.payload.readableBytes + Self.overhead
        delivered.append(message)
    }

    private func check(_ chunk: SCTPDataChunk, continues run: Run) throws(Violation) {
        guard !run.hasEnding, run.stream == chunk.stream,
            run.isUnordered == chunk.flags.contains(.unordered), run.isUnordered || run.sequence == chunk.sequence
        else { throw .mixedFragments }
    }

    private mutating func joinNext(_ place: Int) {
        guard place + 1 < runs.count, !runs[place].hasEnding, runs[place + 1].first == runs[place].last + 1,
            !runs[place + 1].hasBeginning, runs[place].stream == runs[place + 1].stream,
            runs[place].isUnordered == runs[place + 1].isUnordered
        else { return }
        let next = runs.remove(at: place + 1)
        runs[place].last = next.last
        runs[place].hasEnding = next.hasEnding
        runs[place].payload.writeImmutableBuffer(next.payload)
        heldByteCount -= Self.overhead
    }

    private mutating func remove(_ place: Int) -> Run {
        let run = runs.remove(at: place)
        heldByteCount -= run.payload.readableBytes + Self.overhead
        return run
    }

    private func firstRun(endingAtOrAfter tsn: Int64) -> Int {
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
