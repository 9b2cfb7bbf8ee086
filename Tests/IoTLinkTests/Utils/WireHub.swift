import IoTCore
import Synchronization
import Testing

@testable import IoTLink

/// A hub for tests: a second MQTT connection that subscribes to all up topics and answers as docs/link.md describes.
final class WireHub: Sendable {
    typealias Answer = @Sendable (LinkAddress, LinkRequest) -> [LinkReply]

    struct Arrival: Sendable {
        let address: LinkAddress
        let envelope: Envelope
    }

    let endpoint: LinkEndpoint
    private let connection: MQTTConnection
    /// The received messages, in order.
    let arrivals: AsyncStream<Arrival>
    private let subscribed: AsyncStream<Bool>

    /// - Parameter unread: methods with messages that are not added to `arrivals`, which holds 4,096.
    init(
        endpoint: LinkEndpoint, token: TestToken, unread: Set<String> = [],
        answer: @escaping Answer = WireHub.accept
    ) {
        let (arrivals, arrivalWriter) = AsyncStream.makeStream(
            of: Arrival.self, bufferingPolicy: .bufferingOldest(4096))
        let (subscribed, subscribedWriter) = AsyncStream.makeStream(of: Bool.self)
        self.endpoint = endpoint
        self.arrivals = arrivals
        self.subscribed = subscribed
        let configuration = MQTTConfiguration(
            endpoint: endpoint, clientID: "hub", credentials: MQTTCredentials(userName: token.id, password: token.text))
        let own = OwnConnection()
        connection = MQTTConnection(configuration: configuration) { event in
            switch event {
            case .connected: break
            case .subscribed(_, let granted): subscribedWriter.yield(granted)
            case .message(let message):
                guard case (let address, .up)? = LinkAddress.parse(topic: message.topic),
                    let envelope = try? Envelope(parsing: message.payload)
                else { return }
                if envelope.method.map(unread.contains) != true,
                    case .dropped = arrivalWriter.yield(Arrival(address: address, envelope: envelope))
                {
                    Issue.record("the hub dropped a message of \(address): more than 4,096 were not read")
                }
                guard case .request(let request) = envelope else { return }
                for reply in answer(address, request) {
                    guard let payload = try? Envelope.reply(reply).serialized() else { continue }
                    own.publish(MQTTMessage(topic: address.downTopic, payload: payload))
                }
            case .ended:
                arrivalWriter.finish()
                subscribedWriter.finish()
            }
        }
        own.set(connection)
    }

    /// Lets the callback answer on its own connection.
    private final class OwnConnection: Sendable {
        private let connection = Mutex<MQTTConnection?>(nil)
        func set(_ new: MQTTConnection) { connection.withLock { $0 = new } }
        func publish(_ message: MQTTMessage) { try? connection.withLock { $0 }?.publish(message) }
    }

    func start() async throws {
        connection.connect()
        try connection.subscribe(LinkAddress.upFilter)
        for await granted in subscribed {
            guard granted else { break }
            return
        }
        throw IoTError(.brokerFailed, "the hub could not subscribe")
    }

    func send(_ envelope: Envelope, to address: LinkAddress) throws {
        try connection.publish(MQTTMessage(topic: address.downTopic, payload: try envelope.serialized()))
    }

    func send(_ batch: [Envelope], to address: LinkAddress) throws {
        let payload = EnvelopeBatch.joined(try batch.map { try $0.serialized() })
        try connection.publish(MQTTMessage(topic: address.downTopic, payload: payload))
    }

    func stop() { connection.disconnect() }

    /// Answers the session's own requests, and echoes the params of every other request.
    static let accept: Answer = { _, request in
        let t: JSONValue = ["t": .integer(WallClock.milliseconds())]
        switch request.method {
        case SessionMethod.begin.name, SessionMethod.heartbeat.name: return [LinkReply(id: request.id, result: t)]
        default: return [LinkReply(id: request.id, result: request.params)]
        }
    }

    /// Returns the next message that matches.
    func next(_ fits: (Arrival) -> Bool) async throws -> Arrival {
        for await arrival in arrivals where fits(arrival) { return arrival }
        throw IoTError(.internalFailure, "the hub's connection ended")
    }

    func next(method: String) async throws -> Arrival {
        try await next { $0.envelope.method == method }
    }
}
