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

    private let link: any ModelLink

    public init(link: any ModelLink) {
        self.link = link
    }

    // MARK: Devices

    /// By name; `timeout` is for each page of 500.
    public func devices(timeout: Duration = defaultTimeout) async throws(IoTError) -> [DeviceSummary] {
        var all: [DeviceSummary] = []
        var query = PageQuery()
        while true {
            let page = try await link.request(ModelMethod.listDevices, query, timeout: timeout)
            all += page.elements
            // Each page gets further.
            guard page.hasMore, let last = page.lastPlace, last != query.after else { return all }
            query.after = last
        }
    }

    public func show(_ device: String, timeout: Duration = defaultTimeout) async throws(IoTError) -> DeviceDetails {
        try await link.request(ModelMethod.showDevice, DeviceReference(device: device), timeout: timeout)
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
        var query = ManyPropertyQuery(path: path)
        while rest?.isEmpty != true {
            query.devices = rest.map { Array($0.prefix(ManyPropertyQuery.mostDevices)) }
            let page = try await link.request(ModelMethod.readMany, query, timeout: timeout)
            all += page.readings
            // Each round gets further.
            guard let last = page.readings.last else { break }
            rest = rest?.dropFirst(page.readings.count)
            guard rest == nil else { continue }
            guard page.hasMore, let name = last.name, name != query.after else { break }
            query.after = name
        }
        return all
    }

    /// The whole of a device, to be kept elsewhere.
    public func export(_ device: String, timeout: Duration = defaultTimeout) async throws(IoTError) -> DeviceExport {
        try await link.request(ModelMethod.exportDevice, DeviceReference(device: device), timeout: timeout)
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
        let query = ActionQuery(device: device, path: path, value: value, timeoutMilliseconds: milliseconds)
        return try await link.request(ModelMethod.takeAction, query, timeout: timeout + .seconds(1), id: id).value
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
}
