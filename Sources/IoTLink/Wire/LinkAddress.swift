import IoTCore

/// One registration of one principal: what the topics name.
public struct LinkAddress: Hashable, Sendable {
    public enum Direction: String, Sendable {
        /// From the principal to the hub.
        case up
        /// From the hub to the principal.
        case down
    }

    public let principal: Principal
    /// 32 lower-case hex digits, minted at random by the principal for each registration.
    public let session: String

    /// `nil` when `session` is not 32 lower-case hex digits.
    public init?(principal: Principal, session: String) {
        // A session id has a device id's form.
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

    /// Reads the address and the direction out of a topic; `nil` for a topic that is none of the link's.
    public static func parse(topic: String) -> (address: LinkAddress, direction: Direction)? {
        // A principal may publish with any text in place of its session: none but ASCII is looked at as text.
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

    /// The filter by which the hub reads every principal.
    public static let upFilter = "iotlink/1/up/+/+/+"
}
