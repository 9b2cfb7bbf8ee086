import NIOCore

/// The state of both directions of stream reset (RFC 6525 §5).
struct StreamResets {
    struct Request {
        var sequence: UInt32
        var streams: [UInt16]
        var lastTSN: UInt32
    }

    /// Streams to reset once all data sent in them are acknowledged, in order of request.
    private(set) var waiting: [UInt16] = []

    /// The request that waits for its response (§5.1.1: one at a time).
    private(set) var request: Request?
    private var nextSequence: UInt32

    /// The number that the peer's next request must have, and the result of its last one.
    private var expectedSequence: UInt32
    private var lastResult = SCTPReconfiguration.Result.nothingToDo

    init(nextSequence: UInt32, expectedSequence: UInt32) {
        self.nextSequence = nextSequence
        self.expectedSequence = expectedSequence
    }

    /// The number of the peer's last request, which our request names.
    var lastAnswered: UInt32 { expectedSequence &- 1 }

    func isPending(_ stream: UInt16) -> Bool {
        waiting.contains(stream) || request?.streams.contains(stream) == true
    }

    mutating func wait(for stream: UInt16) {
        if !isPending(stream) { waiting.append(stream) }
    }

    /// Moves the streams that are ready into a request.
    mutating func begin(_ ready: [UInt16], lastTSN: UInt32) -> Request? {
        guard request == nil, !ready.isEmpty else { return nil }
        waiting.removeAll { ready.contains($0) }
        request = Request(sequence: nextSequence, streams: ready, lastTSN: lastTSN)
        nextSequence &+= 1
        return request
    }

    /// The peer is not ready: the next attempt gets a new number, as other implementations do.
    mutating func renumber() {
        request?.sequence = nextSequence
        nextSequence &+= 1
    }

    mutating func finish() -> [UInt16] {
        defer { request = nil }
        return request?.streams ?? []
    }

    /// - Parameter perform: performs the request, and returns the result.
    mutating func answer(_ sequence: UInt32, perform: () -> SCTPReconfiguration.Result) -> SCTPReconfiguration.Result {
        let isRepeated = sequence == expectedSequence &- 1
        guard isRepeated || sequence == expectedSequence else { return .badSequenceNumber }
        // A deferred request is evaluated again when it is repeated.
        if isRepeated, lastResult != .inProgress { return lastResult }
        lastResult = perform()
        expectedSequence = sequence &+ 1
        return lastResult
    }
}
