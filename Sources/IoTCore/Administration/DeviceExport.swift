/// `GET /v1/devices/{device}/export`: everything that the hub stores of a device's thing model.
public struct DeviceExport: Codable, Hashable, Sendable {
    public var id: String
    public var name: String
    /// The thing model's schema as the device sent it; null before its first login.
    public var schema: JSONValue
    public var model: JSONValue
    /// Maps each property's path to its version.
    public var versions: [String: Int64]

    public init(id: String, name: String, schema: JSONValue, model: JSONValue, versions: [String: Int64]) {
        self.id = id
        self.name = name
        self.schema = schema
        self.model = model
        self.versions = versions
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, schema, model, versions
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        name = try container.decode(String.self, forKey: .name)
        schema = try container.decodeIfPresent(JSONValue.self, forKey: .schema) ?? .null
        model = try container.decodeIfPresent(JSONValue.self, forKey: .model) ?? .null
        versions = try container.decode([String: Int64].self, forKey: .versions)
    }
}
