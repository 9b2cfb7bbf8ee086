public import IoTCore

/// `GET /v1/properties?path=&device=…`: the values at one path for several devices.
public struct PropertyReadings: Codable, Hashable, Sendable {
    public var readings: [DeviceReading]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?

    public init(readings: [DeviceReading], next: String? = nil) {
        self.readings = readings
        self.next = next
    }

    public init(_ page: Page<DeviceReading>) {
        self.init(readings: page.elements, next: page.next)
    }
}

/// The value of one device, or why there is none.
public struct DeviceReading: Codable, Hashable, Sendable {
    /// The device's id. If there is no such device, the text from the request.
    public var device: String
    public var name: String?
    /// Null if there is an `error`.
    public var value: JSONValue
    public var version: Int64?
    public var error: APIError?

    public init(device: String, name: String?, value: JSONValue, version: Int64) {
        self.device = device
        self.name = name
        self.value = value
        self.version = version
    }

    public init(device: String, name: String? = nil, error: IoTError) {
        self.device = device
        self.name = name
        value = .null
        self.error = APIError(error)
    }

    private enum CodingKeys: String, CodingKey {
        case device, name, value, version, error
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        device = try container.decode(String.self, forKey: .device)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        value = try container.decodeIfPresent(JSONValue.self, forKey: .value) ?? .null
        version = try container.decodeIfPresent(Int64.self, forKey: .version)
        error = try container.decodeIfPresent(APIError.self, forKey: .error)
    }
}
