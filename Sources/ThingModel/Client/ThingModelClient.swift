public import IoTCore
import IoTLink

/// A user's way to the thing models of the account's devices, through the hub.
///
/// `device` is an id or a name everywhere. Each call throws the hub's refusal as an `IoTError`, `messageTimeout`
/// (21002) when none came in time, and `modelReceiveFailed` (21004) for an answer that makes no sense. Calls that
/// change something may be given a request `id`: repeating one with the same id within ten minutes does not apply it
/// twice.
public struct ThingModelClient: Sendable {
    /// How long a call waits for its answer when nothing else is said.
    public static let defaultTimeout = Duration.seconds(10)

    /// The most devices that one `property.readMany` may name.
    package static let devicesOfReading = 1_000

    private let link: any ModelLink

    public init(link: any ModelLink) {
        self.link = link
    }

    // MARK: Devices

    /// By name; `timeout` is for each page of 500.
    public func devices(timeout: Duration = defaultTimeout) async throws(IoTError) -> [DeviceSummary] {
        var all: [DeviceSummary] = []
        var params: JSONValue = [:]
        while true {
            let result = try await link.request(ModelMethod.listDevices, params, timeout: timeout, id: nil)
            guard let page = result["devices"]?.arrayValue else { throw Self.damaged("the list of devices") }
            all += page.compactMap(DeviceSummary.init(json:))
            guard result["more"]?.boolValue == true, let last = page.last?["name"], last != params["after"] else {
                return all
            }
            params["after"] = last
        }
    }

    public func show(_ device: String, timeout: Duration = defaultTimeout) async throws(IoTError) -> DeviceDetails {
        let result = try await link.request(
            ModelMethod.showDevice, ["device": .string(device)], timeout: timeout, id: nil)
        guard let summary = DeviceSummary(json: result), let version = result["version"]?.integerValue else {
            throw Self.damaged("the device")
        }
        return DeviceDetails(
            summary: summary, model: result["model"] ?? [:], version: version,
            pending: (result["pending"]?.arrayValue ?? []).compactMap(\.stringValue))
    }

    // MARK: Properties

    /// `""` reads the whole model.
    public func read(
        _ device: String, _ path: String = "", timeout: Duration = defaultTimeout
    ) async throws(IoTError) -> PropertyReading {
        try await link.request(ModelMethod.read, PropertyQuery(device: device, path: path), timeout: timeout)
    }

    /// The same path of many devices: one reading each, in the order asked for, with a value or why there is none
    /// (8002 no such device, 8003 not to be viewed, 8000 never online, 20101 no such path).
    ///
    /// - Parameters:
    ///   - devices: at most 1,000 ids or names; `nil` for all that the account may view, by name.
    ///   - timeout: for each answer of the hub. What does not fit one is asked for in the next.
    public func readMany(
        _ devices: [String]? = nil, _ path: String, timeout: Duration = defaultTimeout
    ) async throws(IoTError) -> [DeviceReading] {
        var all: [DeviceReading] = []
        var rest = devices?[...]
        var params: JSONValue = ["path": .string(path)]
        while rest?.isEmpty != true {
            params["devices"] = rest.map { .array($0.prefix(Self.devicesOfReading).map { .string($0) }) }
            let result = try await link.request(ModelMethod.readMany, params, timeout: timeout, id: nil)
            guard let list = result["readings"]?.arrayValue else { throw Self.damaged("the readings") }
            all += list.compactMap(DeviceReading.init(json:))
            // Each round gets further.
            guard let last = list.last else { break }
            rest = rest?.dropFirst(list.count)
            guard rest == nil else { continue }
            guard result["more"]?.boolValue == true, let name = last["name"], name != params["after"] else { break }
            params["after"] = name
        }
        return all
    }

    /// The whole of a device, to be kept elsewhere: `{"id","name","schema","model","versions":{path:version}}`.
    public func export(_ device: String, timeout: Duration = defaultTimeout) async throws(IoTError) -> JSONValue {
        try await link.request(ModelMethod.exportDevice, ["device": .string(device)], timeout: timeout, id: nil)
    }

    /// Writes to `ProWritable` or `ProUser`. While the device is away the hub stores it and delivers it later.
    ///
    /// With `ifVersion` a write that lost the race throws `versionConflict`; `IoTError.versionConflict` has the value
    /// and version there are.
    public func write(
        _ device: String, _ path: String, _ value: JSONValue, ifVersion: Int64? = nil,
        timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) -> WriteOutcome {
        try await link.request(
            ModelMethod.write, PropertyWrite(device: device, path: path, value: value, ifVersion: ifVersion),
            timeout: timeout, id: id)
    }

    /// Tells the device to do something and waits for what it says, ten minutes at most (25001 for more);
    /// `deviceOffline` (8000) when it is away.
    public func takeAction(
        _ device: String, _ path: String, _ value: JSONValue, timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) -> JSONValue {
        // The hub gives the device this long; its own answer needs a moment more.
        let milliseconds = timeout.components.seconds * 1000 + timeout.components.attoseconds / 1_000_000_000_000_000
        let params: JSONValue = [
            "device": .string(device), "path": .string(path), "value": value,
            "timeoutMilliseconds": .integer(milliseconds),
        ]
        let result = try await link.request(
            ModelMethod.takeAction, params, timeout: timeout + .seconds(1), id: id)
        return result["value"] ?? .null
    }

    // MARK: User properties

    /// Adds `ProUser.{name}`, or replaces it; gives its version.
    public func addUserProperty(
        _ device: String, _ name: String, _ value: JSONValue, timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) -> Int64 {
        try await link.request(
            ModelMethod.addUserProperty, UserPropertyAddition(device: device, name: name, value: value),
            timeout: timeout, id: id
        ).version
    }

    public func deleteUserProperty(
        _ device: String, _ name: String, timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) -> Int64 {
        try await link.request(
            ModelMethod.deleteUserProperty, UserPropertyDeletion(device: device, name: name), timeout: timeout, id: id
        ).version
    }

    // MARK: Updates

    /// What changes at the account's devices from now on; ends with the link session. A slow reader loses the oldest.
    public func updates() -> some AsyncSequence<ModelUpdate, Never> & Sendable {
        link.pushes().compactMap { ModelUpdate($0) }
    }

    private static func damaged(_ what: String) -> IoTError {
        IoTError(.modelReceiveFailed, "\(what) that the hub sent makes no sense")
    }
}
