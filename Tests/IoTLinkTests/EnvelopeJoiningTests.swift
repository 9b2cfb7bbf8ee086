import TestSupport
import Testing

@testable import IoTLink

@Suite("Envelopes that wait for the broker")
struct EnvelopeJoiningTests {
    private typealias Command = MosquittoThread.Command

    private static func envelope(_ text: String, _ topic: String = "up", isJoinable: Bool = true) -> Command {
        .publish(MQTTMessage(topic: topic, payload: Array(text.utf8)), isJoinable: isJoinable)
    }

    /// The messages that result, and how many commands they took.
    private static func join(_ commands: [Command], atMost limit: Int = 512) -> (messages: [String], used: Int) {
        var joining = EnvelopeJoining()
        let used = commands.prefix { joining.take($0, atMost: limit) }.count
        return (
            joining.commands.map { command in
                switch command {
                case .subscribe(let filter): "subscribe \(filter)"
                case .publish(let message, _):
                    "\(message.topic) \(String(decoding: message.payload, as: UTF8.self))"
                }
            }, used
        )
    }

    @Test("Only neighbours are joined, in their order, and only those that may be")
    func neighbours() {
        #expect(Self.join([Self.envelope("1"), Self.envelope("2"), Self.envelope("3")]).messages == ["up [1,2,3]"])
        #expect(Self.join([Self.envelope("1")]).messages == ["up 1"])
        let mixed = [
            Self.envelope("1"), Self.envelope("2", isJoinable: false), Self.envelope("3"), .subscribe("down"),
            Self.envelope("4"), Self.envelope("5", "other"), Self.envelope("6", "other"),
        ]
        #expect(Self.join(mixed).messages == ["up 1", "up 2", "up 3", "subscribe down", "up 4", "other [5,6]"])
    }

    @Test("A batch has at most 32 envelopes and 65,536 bytes, and a large envelope is sent alone")
    func limits() {
        let many = Self.join(Array(repeating: Self.envelope("1"), count: 70))
        #expect(many.messages.map(\.count) == [68, 68, 16])
        let half = Self.envelope(String(repeating: "1", count: 32_766))
        #expect(Self.join([half, half]).messages.map(\.count) == [65_538])
        let more = Self.envelope(String(repeating: "1", count: 32_768))
        #expect(Self.join([half, more]).messages.count == 2)
    }

    @Test("What does not fit waits")
    func bounded() {
        let commands = [Self.envelope("1"), Self.envelope("2"), .subscribe("down"), Self.envelope("3")]
        #expect(Self.join(commands, atMost: 1).used == 2)
        #expect(Self.join(commands, atMost: 2).used == 3)
        #expect(Self.join(commands, atMost: 0).used == 0)
    }
}
