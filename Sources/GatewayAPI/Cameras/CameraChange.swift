public import IoTCore

/// `PATCH /v1/cameras/{name}`: changes to an added camera. Absent members stay unchanged.
@dynamicMemberLookup
public struct CameraChange: APIRequestBody, Hashable {
    private static let keys = CameraKey.all.filter { $0.isInAPI && $0.part != .device }
    public static let members = keys.map(\.member) + ["check"]
    public static let nullable = keys.first { $0.traits.contains(.nullable) }?.member

    /// The changes. The user name and the password stay if the URL has the same host and port.
    public var settings: CameraSettings
    /// `username` is null: the user name and the password are removed.
    public var removesUser: Bool
    /// Changes the camera only if the source works.
    public var check: Bool?

    private enum CodingKeys: String, CodingKey {
        case username, check
    }

    public init(_ settings: CameraSettings = CameraSettings(), removesUser: Bool = false, check: Bool? = nil) {
        self.settings = settings
        self.removesUser = removesUser
        self.check = check
    }

    public init(from decoder: any Decoder) throws {
        settings = try CameraSettings(from: decoder, members: Self.keys, isWhole: false)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        removesUser = container.contains(.username) && settings.username == nil
        check = try container.decodeIfPresent(Bool.self, forKey: .check)
    }

    public func encode(to encoder: any Encoder) throws {
        try settings.encode(to: encoder, members: Self.keys)
        var container = encoder.container(keyedBy: CodingKeys.self)
        if removesUser { try container.encodeNil(forKey: .username) }
        try container.encodeIfPresent(check, forKey: .check)
    }

    public subscript<Value>(dynamicMember path: KeyPath<CameraSettings, Value>) -> Value {
        settings[keyPath: path]
    }
}
