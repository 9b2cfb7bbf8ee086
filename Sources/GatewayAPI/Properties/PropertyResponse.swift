public import IoTCore

/// `GET /v1/devices/{device}/properties?path=`
public struct PropertyResponse: Codable, Hashable, Sendable {
    public var value: JSONValue
    /// The property's version; the document's version if the path covers several properties.
    public var version: Int64

    public init(value: JSONValue, version: Int64) {
        self.value = value
        self.version = version
    }

    private enum CodingKeys: String, CodingKey {
        case value, version
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        value = try container.decodeIfPresent(JSONValue.self, forKey: .value) ?? .null
        version = try container.decode(Int64.self, forKey: .version)
    }
}

/// The response to a write.
public struct PropertyWriteResponse: Codable, Hashable, Sendable {
    public var version: Int64
    /// The value that is now stored.
    public var value: JSONValue
    /// True while the device has not applied the value, because it is offline or has not finished.
    public var pending: Bool

    public init(version: Int64, value: JSONValue, pending: Bool) {
        self.version = version
        self.value = value
        self.pending = pending
    }

    private enum CodingKeys: String, CodingKey {
        case version, value, pending
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(Int64.self, forKey: .version)
        value = try container.decodeIfPresent(JSONValue.self, forKey: .value) ?? .null
        pending = try container.decode(Bool.self, forKey: .pending)
    }
}

/// The response to `DELETE /v1/devices/{device}/user-properties/{name}`.
public struct VersionResponse: Codable, Hashable, Sendable {
    /// The document's version after the change.
    public var version: Int64

    public init(version: Int64) {
        self.version = version
    }
}
