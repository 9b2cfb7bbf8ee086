public import IoTCore

/// A participant of the link: a user account (`u/<access id>`), a device (`d/<device id>`), or an enrolment
/// (`e/<its id>`), which may only be exchanged for tokens.
public struct Principal: Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case user = "u"
        case device = "d"
        case enrolment = "e"
    }

    public let kind: Kind
    /// `[a-z0-9_-]{1,64}` for a user or an enrolment, 32 lower-case hex digits for a device.
    public let id: String

    public static func user(_ id: AccessID) -> Principal { Principal(kind: .user, unchecked: id.rawValue) }
    public static func device(_ id: DeviceID) -> Principal { Principal(kind: .device, unchecked: id.rawValue) }

    /// `nil` when `id` is not valid for this kind.
    public init?(kind: Kind, id: String) {
        switch kind {
        case .user, .enrolment: guard AccessID(rawValue: id) != nil else { return nil }
        case .device: guard DeviceID(rawValue: id) != nil else { return nil }
        }
        self.init(kind: kind, unchecked: id)
    }

    /// Parses `u/owner`, `d/<32 hex digits>` or `e/<its id>`; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        // A longer text is not a principal; do not spend time on it.
        guard text.utf8.count <= 2 + 64, let slash = text.firstIndex(of: "/"),
            let kind = Kind(rawValue: String(text[..<slash]))
        else { return nil }
        self.init(kind: kind, id: String(text[text.index(after: slash)...]))
    }

    private init(kind: Kind, unchecked id: String) {
        self.kind = kind
        self.id = id
    }

    public var deviceID: DeviceID? { kind == .device ? DeviceID(rawValue: id) : nil }
    public var accessID: AccessID? { kind == .user ? AccessID(rawValue: id) : nil }

    public var description: String { "\(kind.rawValue)/\(id)" }
}
