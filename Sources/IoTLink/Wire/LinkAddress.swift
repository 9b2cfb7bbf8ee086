import IoTCore

/// One registration of one principal, as the topics name it.
public struct LinkAddress: Hashable, Sendable {
    public enum Direction: String, Sendable {
        /// From the principal to the hub.
        case up
        /// From the hub to the principal.
        case down
    }

    public let principal: Principal
    /// 32 lower-case hex digits, which the principal chooses at random for each registration.
    public let session: String

    /// `nil` when `session` is not 32 lower-case hex digits.
    public init?(principal: Principal, session: String) {
        // A session id has the form of a device id.
        guard DeviceID(rawValue: session) != nil else { return nil }
        self.principal = principal
        self.session = session
    }

    public static func random(_ principal: Principal) -> LinkAddress {
        var generator = SystemRandomNumberGenerator()
        return random(principal, using: &generator)
    }

    static func random(_ principal: Principal, using generator: inout some RandomNumberGenerator) -> LinkAddress {
        LinkAddress(unchecked: principal, session: RequestID.random(using: &generator))
    }

    private init(unchecked principal: Principal, session: String) {
        self.principal = principal
        self.session = session
    }

    /// Parses a topic into address and direction. Returns `nil` for a topic that is not the link's.
    public static func parse(topic: String) -> (address: LinkAddress, direction: Direction)? {
        // A principal may publish with any text in place of its session. Only ASCII is processed as a `String`.
        guard topic.utf8.count <= longestTopic, topic.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = topic.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "iotlink", parts[1] == "1",
            let direction = Direction(rawValue: String(parts[2])),
            let kind = Principal.Kind(rawValue: String(parts[3])),
            let principal = Principal(kind: kind, id: String(parts[4])),
            let address = LinkAddress(principal: principal, session: String(parts[5]))
        else { return nil }
        return (address, direction)
    }

    /// `iotlink/1/down/u/`, an access id of 64 bytes, `/` and a session.
    private static let longestTopic = 17 + 64 + 1 + 32

    public func topic(_ direction: Direction) -> String {
        "iotlink/1/\(direction.rawValue)/\(principal.kind.rawValue)/\(principal.id)/\(session)"
    }

    public var upTopic: String { topic(.up) }
    public var downTopic: String { topic(.down) }

    /// The topic filter with which the hub subscribes to every principal.
    public static let upFilter = "iotlink/1/up/+/+/+"
}
