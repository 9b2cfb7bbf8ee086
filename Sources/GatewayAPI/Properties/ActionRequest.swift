public import IoTCore

/// `POST /v1/devices/{device}/actions`
public struct ActionRequest: APIRequestBody, Hashable {
    public static let members = ["path", "value", "timeoutMilliseconds"]
    public static let nullable = ["value"]

    /// For example `Action.takePhoto` or `Action.cameraOn.ctlVal`.
    public var path: String
    /// The value for the action; null if it takes none.
    public var value: JSONValue
    /// How long the device may take: 100 ms to 10 min. Default 10 s.
    public var timeoutMilliseconds: Int?

    public init(path: String, value: JSONValue, timeoutMilliseconds: Int? = nil) {
        self.path = path
        self.value = value
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    private enum CodingKeys: String, CodingKey {
        case path, value, timeoutMilliseconds
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        path = try container.decode(String.self, forKey: .path)
        value = try container.decodeIfPresent(JSONValue.self, forKey: .value) ?? .null
        timeoutMilliseconds = try container.decodeIfPresent(Int.self, forKey: .timeoutMilliseconds)
    }
}

/// The result of an action.
public struct ActionResponse: Codable, Hashable, Sendable {
    /// Null if there is no result. `{"resource":"/v1/resources/…"}` names data to download.
    public var value: JSONValue

    public init(value: JSONValue) {
        self.value = value
    }

    private enum CodingKeys: String, CodingKey {
        case value
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        value = try container.decodeIfPresent(JSONValue.self, forKey: .value) ?? .null
    }
}
