import GatewayAPI
import IoTCore
import MediaChannel
import NIOCore

/// A stream of data as server-sent events. The next element is taken only when the one before was sent, so a slow client
/// slows the sender down at the other end of the channel, and loses nothing.
struct DataBody<Element: Sendable>: Sendable {
    enum Event: Sendable {
        case element(Element)
        case failed(IoTError)
        case end
    }

    /// The longest time without a byte, so that both sides notice a dead connection.
    private static var heartbeat: TimeAmount { .seconds(15) }

    private let reader: DataReader<Element>
    private let lease: Lease
    private let format: @Sendable (Event) throws -> ServerSentEvent

    init(
        _ reader: DataReader<Element>, lease: Lease, format: @escaping @Sendable (Event) throws -> ServerSentEvent
    ) {
        self.reader = reader
        self.lease = lease
        self.format = format
    }

    func body(_ part: QuotaPart) -> MediaBody {
        EventBody { try await next() }.body(part)
    }

    private func next() async throws -> EventBody.Step {
        let event: Event
        do {
            try lease.check()
            switch try await reader.next(within: Self.heartbeat) {
            case .element(let element): event = .element(element)
            case .nothing: return .heartbeat
            case .end: event = .end
            }
        } catch {
            event = .failed(error)
        }
        let formatted = try format(event)
        if case .element = event { return .event(formatted) }
        return .last(formatted)
    }
}
