/// `PATCH /v1/cameras/{name}`: what is to be different about a camera that was added. What is absent stays.
public struct CameraChange: APIRequestBody, Hashable {
    public static let members = ["url", "username", "password", "transport", "viewers", "check"]
    public static let nullable: String? = "username"

    /// As of a `CameraRequest`. The user name and the password stay, when the URL names the same host and port.
    public var url: String?
    /// Null takes the user name and the password away.
    public var username: Nullable<String>
    public var password: String?
    public var transport: CameraRequest.Transport?
    public var viewers: Int?
    /// Changes nothing when the source does not work.
    public var check: Bool?

    /// A member that may be absent, null or a value.
    public enum Nullable<Value: Codable & Hashable & Sendable>: Hashable, Sendable {
        case absent
        case null
        case value(Value)
    }

    public init(
        url: String? = nil, username: Nullable<String> = .absent, password: String? = nil,
        transport: CameraRequest.Transport? = nil, viewers: Int? = nil, check: Bool? = nil
    ) {
        self.url = url
        self.username = username
        self.password = password
        self.transport = transport
        self.viewers = viewers
        self.check = check
    }

    private enum CodingKeys: String, CodingKey {
        case url, username, password, transport, viewers, check
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        url = try container.decodeIfPresent(String.self, forKey: .url)
        if !container.contains(.username) {
            username = .absent
        } else {
            username = try container.decodeIfPresent(String.self, forKey: .username).map { .value($0) } ?? .null
        }
        password = try container.decodeIfPresent(String.self, forKey: .password)
        transport = try container.decodeIfPresent(CameraRequest.Transport.self, forKey: .transport)
        viewers = try container.decodeIfPresent(Int.self, forKey: .viewers)
        check = try container.decodeIfPresent(Bool.self, forKey: .check)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(url, forKey: .url)
        switch username {
        case .absent: break
        case .null: try container.encodeNil(forKey: .username)
        case .value(let name): try container.encode(name, forKey: .username)
        }
        try container.encodeIfPresent(password, forKey: .password)
        try container.encodeIfPresent(transport, forKey: .transport)
        try container.encodeIfPresent(viewers, forKey: .viewers)
        try container.encodeIfPresent(check, forKey: .check)
    }
}
