public import IoTCore

/// Who speaks over the link: a user account or a device, whose text is `u/<access id>` or `d/<device id>`; or an
/// enrolment, `e/<its id>`, which may only exchange itself for tokens.
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

    /// `nil` when `id` is not one of this kind.
    public init?(kind: Kind, id: String) {
        switch kind {
        case .user, .enrolment: guard AccessID(rawValue: id) != nil else { return nil }
        case .device: guard DeviceID(rawValue: id) != nil else { return nil }
        }
        self.init(kind: kind, unchecked: id)
    }

    /// Reads `u/owner` or `d/<32 hex digits>`; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        // No longer text is one, nor worth comparing.
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
