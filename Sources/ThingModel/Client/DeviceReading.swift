public import IoTCore

/// What one device has at a path, among many devices.
public struct DeviceReading: Sendable, Hashable {
    /// The device's id; what was asked for, when there is no such device.
    public var device: String
    /// `nil` when the device cannot be read.
    public var name: String?
    /// `nil` when it cannot be read: then `error` says why.
    public var reading: PropertyReading?
    public var error: Failure?

    /// Why there is no reading.
    public struct Failure: Sendable, Hashable {
        public var code: ErrorCode
        public var message: String
        /// Where the catalogue's remedy for the code does not fit.
        public var remedy: String?

        public init(code: ErrorCode, message: String, remedy: String? = nil) {
            self.code = code
            self.message = message
            self.remedy = remedy
        }
    }

    /// `nil` for an answer that is no reading.
    public init?(json: JSONValue) {
        guard let device = json["device"]?.stringValue else { return nil }
        self.device = device
        name = json["name"]?.stringValue
        if let code = json["code"]?.integerValue {
            error = Failure(
                code: ErrorCode(rawValue: Int(clamping: code)), message: json["message"]?.stringValue ?? "",
                remedy: json["remedy"]?.stringValue)
        } else {
            guard let value = json["value"], let version = json["version"]?.integerValue else { return nil }
            reading = PropertyReading(value: value, version: version)
        }
    }
}
