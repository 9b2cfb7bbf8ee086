public import IoTCore

/// `PATCH /v1/cameras/{name}`: changes to an added camera. Absent members stay unchanged.
@dynamicMemberLookup
public struct CameraChange: APIRequestBody, Hashable {
    private static let keys = CameraKey.all.filter { $0.isInAPI && $0.part != .device }
    public static let members = keys.map(\.member) + ["check"]
    public static let nullable = keys.filter { $0.traits.contains(.nullable) }.map(\.member)

    /// The changes. The user name and the password stay if the URL has the same host and port, and is
    /// encrypted if the old one is.
    public var settings: CameraSettings
    /// The members that are null: their values are removed, and with `username` the password.
    public var removed: Set<String>
    /// Changes the camera only if the source works.
    public var check: Bool?

    private enum CodingKeys: String, CodingKey {
        case check
    }

    public init(_ settings: CameraSettings = CameraSettings(), removed: Set<String> = [], check: Bool? = nil) {
        self.settings = settings
        self.removed = removed
        self.check = check
    }

    public init(from decoder: any Decoder) throws {
        settings = try CameraSettings(from: decoder, members: Self.keys, isWhole: false)
        let members = try decoder.container(keyedBy: CameraKeyName.self)
        removed = Set(
            try Self.nullable.filter { name in
                let name = CameraKeyName(name)
                return try members.contains(name) && members.decodeNil(forKey: name)
            })
        check = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Bool.self, forKey: .check)
    }

    public func encode(to encoder: any Encoder) throws {
        try settings.encode(to: encoder, members: Self.keys)
        var members = encoder.container(keyedBy: CameraKeyName.self)
        for name in removed.sorted() { try members.encodeNil(forKey: CameraKeyName(name)) }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(check, forKey: .check)
    }

    public var removesUser: Bool { removed.contains("username") }

    public subscript<Value>(dynamicMember path: KeyPath<CameraSettings, Value>) -> Value {
        settings[keyPath: path]
    }
}
