import IoTCore
import NIOCore
import Synchronization
import Testing

@testable import IoTLink

@Suite("One MQTT connection over a real broker", .timeLimit(.minutes(1)))
struct MQTTConnectionTests {
    static let token = TestToken("t-1")

    /// A connection and the stream of its events.
    struct Client {
        let connection: MQTTConnection
        let events: AsyncStream<MQTTEvent>

        init(
            _ broker: Broker, _ clientID: String, token: TestToken = MQTTConnectionTests.token,
            will: MQTTMessage? = nil, change: (inout MQTTConfiguration) -> Void = { _ in }
        ) {
            let (events, writer) = AsyncStream.makeStream(of: MQTTEvent.self)
            self.events = events
            var configuration = MQTTConfiguration(
                endpoint: broker.endpoint, clientID: clientID,
                credentials: MQTTCredentials(userName: token.id, password: token.text), will: will)
            change(&configuration)
            connection = MQTTConnection(configuration: configuration) { event in
                writer.yield(event)
                if case .ended = event { writer.finish() }
            }
        }

        func subscribe(_ filter: String) async throws {
            connection.connect()
            try connection.subscribe(filter)
            for await event in events {
                if case .subscribed(filter, let granted) = event { return #expect(granted) }
            }
            throw Unexpected()
        }

        func end() async throws -> MQTTEnd {
            for await event in events {
                if case .ended(let end) = event { return end }
            }
            throw Unexpected()
        }
    }

    private func withBroker(_ body: (Broker) async throws -> Void) async throws {
        let broker = try Broker(tokens: [Self.token])
        try await broker.start()
        try await body(broker)
        broker.kill()
    }

    @Test("Many messages through a small window arrive in order, each once")
    func order() async throws {
        try await withBroker { broker in
            let reader = Client(broker, "reader")
            try await reader.subscribe("test/#")
            let writer = Client(broker, "writer") { $0.unacknowledgedMessages = 16 }
            try await writer.subscribe("nothing")
            for number in 0..<900 {
                try writer.connection.publish(MQTTMessage(topic: "test/a", payload: Array("\(number)".utf8)))
            }
            // Disconnecting sends the queued messages first.
            writer.connection.disconnect()
            guard case .disconnected = try await writer.end() else { throw Unexpected() }
            var expected = 0
            for await event in reader.events {
                guard case .message(let message) = event else { continue }
                #expect(String(decoding: message.payload, as: UTF8.self) == "\(expected)")
                expected += 1
                if expected == 900 { break }
            }
            #expect(expected == 900)
        }
    }

    @Test("A full queue refuses with 25024, by count and by bytes, and an ended connection refuses with 21025")
    func bounds() async throws {
        try await withBroker { broker in
            let client = Client(broker, "a") { configuration in
                configuration.waitingMessages = 3
                configuration.waitingBytes = 100
            }
            let small = MQTTMessage(topic: "t", payload: [1])
            for _ in 0..<3 { try client.connection.publish(small) }
            var error = #expect(throws: IoTError.self) { try client.connection.publish(small) }
            #expect(error?.code == .tooManyRequests)

            let other = Client(broker, "b") { $0.waitingBytes = 100 }
            let large = MQTTMessage(topic: "t", payload: [UInt8](repeating: 0, count: 60))
            try other.connection.publish(large)
            error = #expect(throws: IoTError.self) { try other.connection.publish(large) }
            #expect(error?.code == .tooManyRequests)

            client.connection.connect()
            client.connection.disconnect()
            _ = try await client.end()
            error = #expect(throws: IoTError.self) { try client.connection.publish(small) }
            #expect(error?.code == .linkUnavailable)
        }
    }

    @Test("An unreachable, a refusing and a killed broker each end the connection with a reason")
    func ends() async throws {
        let broker = try Broker(tokens: [Self.token])
        let early = Client(broker, "early")
        early.connection.connect()
        guard case .lost(let missing) = try await early.end() else { throw Unexpected() }
        #expect(missing.code == .linkUnavailable)

        try await broker.start()
        let stranger = Client(broker, "stranger", token: TestToken("nobody"))
        stranger.connection.connect()
        guard case .credentialsRefused(let refused) = try await stranger.end() else { throw Unexpected() }
        #expect(refused.code == .tokenRejected)

        let client = Client(broker, "a")
        try await client.subscribe("x")
        broker.kill()
        guard case .lost = try await client.end() else { throw Unexpected() }
    }

    @Test("Dropping the connection object disconnects in order, without the will")
    func dropped() async throws {
        try await withBroker { broker in
            let reader = Client(broker, "reader")
            try await reader.subscribe("test/#")
            func live(_ clientID: String, publish: String) async throws {
                let client = Client(
                    broker, clientID, will: MQTTMessage(topic: "test/will", payload: Array("will".utf8)))
                try await client.subscribe("y")
                try client.connection.publish(MQTTMessage(topic: "test/last", payload: Array(publish.utf8)))
            }
            try await live("a", publish: "1")
            try await live("b", publish: "2")
            try await live("c", publish: "3")
            var texts: [String] = []
            for await event in reader.events {
                guard case .message(let message) = event else { continue }
                texts.append(String(decoding: message.payload, as: UTF8.self))
                if texts.count == 3 { break }
            }
            #expect(texts.sorted() == ["1", "2", "3"])
        }
    }
}
