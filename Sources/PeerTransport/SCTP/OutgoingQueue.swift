import NIOCore

/// How long a message may be sent (RFC 3758 §4, RFC 8831 §6.6).
enum SCTPReliability: Equatable {
    case reliable
    case retransmissions(Int)
    /// After this time it is neither sent nor sent again.
    case until(NIODeadline)

    func isExpired(transmissions: Int, at now: NIODeadline) -> Bool {
        switch self {
        case .reliable: false
        case .retransmissions(let limit): transmissions > limit
        case .until(let deadline): transmissions > 0 ? now >= deadline : now > deadline
        }
    }
}

/// One user message to send.
struct OutgoingMessage {
    let id: Int
    let stream: UInt16
    let payloadProtocol: UInt32
    let isUnordered: Bool
    let reliability: SCTPReliability

    /// The part that has not been transmitted yet.
    var payload: ByteBuffer

    /// Assigned with the first fragment, so that a message that is dropped earlier leaves no gap.
    var sequence: UInt16?
}

/// Messages that wait for their first transmission: in order within each stream, streams in turn (RFC 8831 §6.6).
///
/// The fragments of one message have consecutive numbers, so a message that has begun is finished before the next.
struct OutgoingQueue {
    struct Stream {
        var nextSequence: UInt16 = 0
        var messages: CircularBuffer<OutgoingMessage> = []
        var byteCount = 0
    }

    struct Fragment {
        var message: OutgoingMessage
        var payload: ByteBuffer
        var isFirst: Bool
        var isLast: Bool
    }

    private(set) var streams: [UInt16: Stream] = [:]
    private var turns: CircularBuffer<UInt16> = []

    /// The size of the waiting messages, plus `overhead` for each.
    private(set) var charge = 0
    private let overhead: Int

    /// The streams whose queue has become shorter since `takeShortened`.
    private var shortened: [UInt16] = []

    init(overhead: Int) {
        self.overhead = overhead
    }

    var isEmpty: Bool { turns.isEmpty }

    func byteCount(of stream: UInt16) -> Int {
        streams[stream]?.byteCount ?? 0
    }

    func hasMessages(of stream: UInt16) -> Bool {
        streams[stream].map { !$0.messages.isEmpty } ?? false
    }

    mutating func append(_ message: OutgoingMessage) {
        if !hasMessages(of: message.stream) { turns.append(message.stream) }
        streams[message.stream, default: Stream()].messages.append(message)
        streams[message.stream, default: Stream()].byteCount += message.payload.readableBytes
        charge += message.payload.readableBytes + overhead
    }

    /// The remaining bytes of the next message; `nil` when there is none. Drops expired messages.
    mutating func nextSize(at now: NIODeadline) -> (count: Int, isBegun: Bool)? {
        while let stream = turns.first, let message = streams[stream]?.messages.first {
            if message.sequence == nil, message.reliability.isExpired(transmissions: 0, at: now) {
                dropFirst(of: stream)
                continue
            }
            return (message.payload.readableBytes, message.sequence != nil)
        }
        return nil
    }

    /// The next fragment, of at most `count` bytes.
    mutating func take(_ count: Int) -> Fragment? {
        guard let id = turns.first, var stream = streams[id], var message = stream.messages.first else { return nil }
        // Keeps one reference only, because otherwise each fragment would copy the queue.
        streams[id] = nil
        defer { streams[id] = stream }
        let isFirst = message.sequence == nil
        if isFirst {
            message.sequence = stream.nextSequence
            if !message.isUnordered { stream.nextSequence &+= 1 }
        }
        guard let payload = message.payload.readSlice(length: min(count, message.payload.readableBytes)) else {
            return nil
        }
        let isLast = message.payload.readableBytes == 0
        stream.byteCount -= payload.readableBytes
        charge -= payload.readableBytes
        noteShortened(id)
        if isLast {
            stream.messages.removeFirst()
            charge -= overhead
            turns.removeFirst()
            if !stream.messages.isEmpty { turns.append(id) }
        } else {
            stream.messages[stream.messages.startIndex] = message
        }
        return Fragment(message: message, payload: payload, isFirst: isFirst, isLast: isLast)
    }

    /// Drops the rest of a message that has begun. Returns false when nothing of it is left.
    mutating func abandon(message id: Int) -> Bool {
        guard let stream = turns.first, let message = streams[stream]?.messages.first, message.id == id else {
            return false
        }
        dropFirst(of: stream)
        return true
    }

    /// Drops all messages of the stream that have not begun.
    mutating func discard(_ stream: UInt16) {
        guard let entry = streams[stream], !entry.messages.isEmpty else { return }
        let kept = entry.messages.first.flatMap { $0.sequence == nil ? nil : $0 }
        for message in entry.messages { charge -= message.payload.readableBytes + overhead }
        streams[stream]?.messages = []
        streams[stream]?.byteCount = 0
        noteShortened(stream)
        if let kept {
            streams[stream]?.messages.append(kept)
            streams[stream]?.byteCount = kept.payload.readableBytes
            charge += kept.payload.readableBytes + overhead
        } else {
            turns.removeAll { $0 == stream }
        }
    }

    /// Returns and clears `shortened`; `nil` when it is empty.
    mutating func takeShortened() -> [UInt16]? {
        guard !shortened.isEmpty else { return nil }
        defer { shortened.removeAll(keepingCapacity: true) }
        return shortened
    }

    private mutating func noteShortened(_ stream: UInt16) {
        if !shortened.contains(stream) { shortened.append(stream) }
    }

    /// The peer has agreed to reset the stream (RFC 6525 §5.2.2).
    mutating func reset(_ stream: UInt16) {
        if hasMessages(of: stream) {
            streams[stream]?.nextSequence = 0
        } else {
            streams[stream] = nil
        }
    }

    private mutating func dropFirst(of id: UInt16) {
        guard let message = streams[id]?.messages.popFirst() else { return }
        streams[id]?.byteCount -= message.payload.readableBytes
        charge -= message.payload.readableBytes + overhead
        noteShortened(id)
        turns.removeFirst()
        if hasMessages(of: id) { turns.append(id) }
    }
}
