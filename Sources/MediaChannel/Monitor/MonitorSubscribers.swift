import NIOCore

/// Subscribers of a monitor channel. Confined to the channel's event loop; a slow subscriber loses its oldest events.
final class MonitorSubscribers {
    private static let limit = 256

    private let eventLoop: any EventLoop
    private var continuations: [Int: AsyncStream<MonitorEvent>.Continuation] = [:]
    private var next = 0

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    var isEmpty: Bool { continuations.isEmpty }

    /// - Parameter first: events that the new subscriber gets at once. Nothing follows `.ended`.
    func add(first: [MonitorEvent]) -> AsyncStream<MonitorEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MonitorEvent.self, bufferingPolicy: .bufferingNewest(Self.limit))
        for event in first { continuation.yield(event) }
        if case .ended = first.last {
            continuation.finish()
            return stream
        }
        let id = next
        next += 1
        continuations[id] = continuation
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        continuation.onTermination = { _ in
            bound.eventLoop.execute { bound.value.continuations[id] = nil }
        }
        return stream
    }

    func publish(_ event: MonitorEvent) {
        for continuation in continuations.values { continuation.yield(event) }
        guard case .ended = event else { return }
        for continuation in continuations.values { continuation.finish() }
        continuations = [:]
    }
}
