import IoTCore
import IoTLink
import NIOConcurrencyHelpers

/// A plain MQTT client without any rules.
final class RawClient: Sendable {
    private struct Heard {
        var messages: [MQTTMessage] = []
        var grants: [String: Bool] = [:]
    }

    let events: AsyncStream<MQTTEvent>
    private let connection: MQTTConnection
    private let heard = NIOLockedValueBox(Heard())

    init(
        _ endpoint: LinkEndpoint, clientID: String = RequestID.random(), userName: String, password: String,
        will: MQTTMessage? = nil
    ) {
        let (events, feed) = AsyncStream.makeStream(of: MQTTEvent.self)
        self.events = events
        let heard = heard
        connection = MQTTConnection(
            configuration: MQTTConfiguration(
                endpoint: endpoint, clientID: clientID,
                credentials: MQTTCredentials(userName: userName, password: password), will: will)
        ) { event in
            heard.withLockedValue { heard in
                switch event {
                case .message(let message): heard.messages.append(message)
                case .subscribed(let filter, let granted): heard.grants[filter] = granted
                default: break
                }
            }
            feed.yield(event)
            if case .ended = event { feed.finish() }
        }
        connection.connect()
    }

    var messages: [MQTTMessage] { heard.withLockedValue { $0.messages } }

    func publish(_ topic: String, _ payload: String) throws {
        try connection.publish(MQTTMessage(topic: topic, payload: Array(payload.utf8)))
    }

    func subscribe(_ filter: String) throws { try connection.subscribe(filter) }
    func disconnect() { connection.disconnect() }

    /// The first event for which `select` returns a value; `nil` if the connection ended before.
    func first<Value>(_ select: (MQTTEvent) -> Value?) async -> Value? {
        for await event in events {
            if let value = select(event) { return value }
        }
        return nil
    }

    /// Waits until the connection is made. False if it ended instead.
    func waitUntilConnected() async -> Bool {
        await first { event in
            switch event {
            case .connected: true
            case .ended: false
            default: nil
            }
        } ?? false
    }

    /// Why the connection ended.
    func end() async -> MQTTEnd? {
        await first { if case .ended(let end) = $0 { end } else { nil } }
    }

    /// Waits for a filter's SUBACK.
    func grant(of filter: String) async -> Bool? {
        await first { event in
            if case .subscribed(filter, let granted) = event { granted } else { nil }
        }
    }
}
