public import IoTCore
import IoTLink

/// A user's access to the thing models of the account's devices, through the hub.
///
/// `device` is an id or a name everywhere. Each call throws the hub's refusal as an `IoTError`, `messageTimeout`
/// (21002) when no answer came in time, and for a malformed answer `modelReadFailed` (21003) if it reads a model,
/// otherwise `modelReceiveFailed` (21004). Calls that change something accept a request `id`. A request that is repeated with the same id within ten minutes is applied once.
public struct ThingModelClient: Sendable {
    /// How long a call waits for its answer by default.
    public static let defaultTimeout = Duration.seconds(10)

    private let link: any ModelLink

    public init(link: any ModelLink) {
        self.link = link
    }

    // MARK: Devices

    /// Returns the devices, sorted by name. `timeout` is for each page of 500.
    public func devices(timeout: Duration = defaultTimeout) async throws(IoTError) -> [DeviceSummary] {
        var all: [DeviceSummary] = []
        var query = PageQuery()
        while true {
            let page = try await link.request(ModelMethod.listDevices, query, timeout: timeout)
            all += page.elements
            // Stops when a page makes no progress.
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
        try await readModel(ModelMethod.read, PropertyQuery(device: device, path: path), timeout)
    }

    /// Reads the same path of many devices. Returns one reading for each device, in the requested order, with a value
    /// or an error (8002 no such device, 8003 no permission to view, 8000 never online, 20101 no such path).
    ///
    /// - Parameters:
    ///   - devices: ids or names; `nil` for all devices that the account may view, sorted by name.
    ///   - timeout: for each answer of the hub. Readings that do not fit in an answer are requested in the next one.
    public func readMany(
        _ devices: [String]? = nil, _ path: String, timeout: Duration = defaultTimeout
    ) async throws(IoTError) -> [DeviceReading] {
        var all: [DeviceReading] = []
        var rest = devices?[...]
        var query = ManyPropertyQuery(path: path)
        while rest?.isEmpty != true {
            query.devices = rest.map { Array($0.prefix(ManyPropertyQuery.mostDevices)) }
            let page = try await readModel(ModelMethod.readMany, query, timeout)
            all += page.readings
            // Stops when a round makes no progress.
            guard let last = page.readings.last else { break }
            rest = rest?.dropFirst(page.readings.count)
            guard rest == nil else { continue }
            guard page.hasMore, let name = last.name, name != query.after else { break }
            query.after = name
        }
        return all
    }

    /// Exports the schema and the whole model of a device.
    public func export(_ device: String, timeout: Duration = defaultTimeout) async throws(IoTError) -> DeviceExport {
        try await readModel(ModelMethod.exportDevice, DeviceReference(device: device), timeout)
    }

    /// A malformed answer has a number of its own, because the link may be fine and only this model unreadable.
    private func readModel<Query, Answer>(
        _ method: LinkMethod<Query, Answer>, _ query: Query, _ timeout: Duration
    ) async throws(IoTError) -> Answer {
        do throws(IoTError) {
            return try await link.request(method, query, timeout: timeout)
        } catch {
            guard error.code == .modelReceiveFailed else { throw error }
            throw IoTError(.modelReadFailed, error.message, underlying: error)
        }
    }

    /// Writes to `ProWritable` or `ProUser`. While the device is offline the hub stores the value and delivers it
    /// later.
    ///
    /// With `ifVersion` a write that lost the race throws `versionConflict`; `IoTError.versionConflict` holds the
    /// current value and version.
    public func write(
        _ device: String, _ path: String, _ value: JSONValue, ifVersion: Int64? = nil,
        timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) -> WriteOutcome {
        try await link.request(
            ModelMethod.write, PropertyWrite(device: device, path: path, value: value, ifVersion: ifVersion),
            timeout: timeout, id: id)
    }

    /// Executes an action on the device and returns its answer. Throws 25001 for a timeout of more than ten minutes,
    /// and `deviceOffline` (8000) when the device is offline.
    public func takeAction(
        _ device: String, _ path: String, _ value: JSONValue, timeout: Duration = defaultTimeout, id: String? = nil
    ) async throws(IoTError) -> JSONValue {
        // The device has this time. The hub's own answer needs a little longer.
        let milliseconds = timeout.components.seconds * 1000 + timeout.components.attoseconds / 1_000_000_000_000_000
        let query = ActionQuery(device: device, path: path, value: value, timeoutMilliseconds: milliseconds)
        return try await link.request(ModelMethod.takeAction, query, timeout: timeout + .seconds(1), id: id).value
    }

    // MARK: User properties

    /// Adds or replaces `ProUser.{name}`. Returns its version.
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

    /// Yields the changes of the account's devices from now on. Ends with the link session. A slow reader loses the
    /// oldest.
    public func updates() -> some AsyncSequence<ModelUpdate, Never> & Sendable {
        link.pushes().compactMap { ModelUpdate($0) }
    }
}
