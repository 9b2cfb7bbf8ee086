public import IoTCore
public import IoTLink

/// The value at a path of one device, in a reading of many devices.
public struct DeviceReading: LinkValue, Hashable {
    /// The device's id; the requested text when the device does not exist.
    public var device: String
    /// `nil` when the device cannot be read.
    public var name: String?
    /// `nil` when the device cannot be read; then `error` is set.
    public var reading: PropertyReading?
    public var error: Failure?

    /// The error of a device that cannot be read.
    public struct Failure: Sendable, Hashable {
        public var code: ErrorCode
        public var message: String
        /// The remedy, when it is not the catalogue's for the code.
        public var remedy: String?

        public init(code: ErrorCode, message: String, remedy: String? = nil) {
            self.code = code
            self.message = message
            self.remedy = remedy
        }
    }

    public init(device: String, name: String? = nil, reading: PropertyReading? = nil, error: Failure? = nil) {
        self.device = device
        self.name = name
        self.reading = reading
        self.error = error
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        name = try members.optionalText("name")
        if let code = try members.optionalInteger("code") {
            error = Failure(
                code: ErrorCode(rawValue: Int(clamping: code)), message: try members.optionalText("message") ?? "",
                remedy: try members.optionalText("remedy"))
        } else {
            reading = try PropertyReading(members)
        }
    }

    public var json: JSONValue {
        var json = reading?.json ?? [:]
        json["device"] = .string(device)
        json["name"] = .text(name)
        if let error {
            json["code"] = .integer(Int64(error.code.rawValue))
            json["message"] = .string(error.message)
            json["remedy"] = .text(error.remedy)
        }
        return json
    }
}

/// The parameters of `property.readMany`.
public struct ManyPropertyQuery: LinkValue, Hashable {
    /// The most devices that one request may name.
    public static let mostDevices = 1_000

    public var path: String
    /// Ids or names; all devices that the caller may view, sorted by name, when absent.
    public var devices: [String]?
    /// Without `devices`: only devices after this name.
    public var after: String?

    public init(path: String, devices: [String]? = nil, after: String? = nil) {
        self.path = path
        self.devices = devices
        self.after = after
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        path = try members.text("path")
        devices = try members.optionalTexts("devices", atMost: Self.mostDevices)
        after = try members.optionalText("after")
    }

    public var json: JSONValue {
        .members(["path": .string(path), "devices": .texts(devices), "after": .text(after)])
    }
}

/// The result of `property.readMany`: as many readings as fit into one link message (`LinkEnvelope`).
public struct DeviceReadings: LinkValue, Hashable {
    public var readings: [DeviceReading]
    public var hasMore: Bool

    public init(_ readings: [DeviceReading], hasMore: Bool) {
        self.readings = readings
        self.hasMore = hasMore
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        // Each requested device has its line. A line that this version cannot read becomes an error.
        readings = try members.list("readings").map { line in
            do throws(IoTError) {
                return try DeviceReading(LinkMembers(line, of: members.method, failure: members.failure))
            } catch {
                return DeviceReading(
                    device: line["device"]?.stringValue ?? "", name: line["name"]?.stringValue,
                    error: DeviceReading.Failure(code: error.code, message: error.message))
            }
        }
        hasMore = try members.flag("more")
    }

    public var json: JSONValue { ["readings": .array(readings.map(\.json)), "more": .bool(hasMore)] }
}
