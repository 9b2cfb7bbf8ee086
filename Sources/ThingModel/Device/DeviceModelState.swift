import IoTCore
import IoTLink

/// The state of a `DeviceModel`, which decides the next step. A value without tasks, clock or link; a lock guards it.
struct DeviceModelState: Sendable {
    /// The next step.
    enum Step: Sendable {
        case login(ModelLogin)
        /// Report changed objects, with their newest values.
        case report([PropertyChange])
        /// Acknowledge applied settings: the version by path.
        case acknowledge([String: Int64])
        /// Tell the hub of a setting that a caller on the device's own network has written.
        case tellWrite(name: String, LANWrite)
        case nothing
    }

    /// The most changes in one report.
    static let maximumReportCount = 64
    /// The approximate size limit of a report, in bytes.
    static let maximumReportSize = 96 * 1024
    /// The most writes to one property that wait.
    static let maximumWaitingWrites = 16

    var document: ThingDocument
    var actionHandlers: [String: DeviceModel.ActionHandler] = [:]
    var writeHandlers: [String: DeviceModel.WriteHandler] = [:]
    var runningActions: Set<String> = []
    private(set) var changed: (@Sendable (DeviceChange) -> Void)?
    private var isOnline = false
    private var needsLogin = true
    /// The paths of the objects to report, oldest first. There is one entry for each object, so that the schema bounds
    /// the list, and an object that changes twice before it is sent is sent once.
    private var unreported: [String] = []
    private var unacknowledged: [String: Int64] = [:]
    /// The settings that callers on the device's own network have written and the hub does not know yet, by name.
    private(set) var untold: [String: LANWrite] = [:]
    private var waitingWrites: [String: [CheckedContinuation<Void, Never>]] = [:]

    init(schema: ThingSchema) {
        document = ThingDocument(schema: schema)
    }

    mutating func setOnline(_ online: Bool) {
        // Each new session needs a login.
        if online { needsLogin = true }
        isOnline = online
    }

    /// Logs in again after a failure, because a login sends everything.
    mutating func startOver() {
        needsLogin = true
    }

    /// Stores a reported value in the document. Returns `false` when nothing changed.
    mutating func report(_ path: String, _ value: JSONValue, at t: Int64) throws(IoTError) -> Bool {
        let before = document
        let change = try document.report(path, value, at: t)
        let propertyClass = PropertyClass(ofPath: change.path)
        let key = propertyClass == .readonly ? ".stVal" : ""
        let new = try? document.read(change.path + key).value
        if propertyClass != .event, let new, let old = try? before.read(change.path + key), old.value == new {
            document = before
            return false
        }
        if let new { changed?(DeviceChange(path: change.path, value: new)) }
        if !unreported.contains(change.path) { unreported.append(change.path) }
        return true
    }

    mutating func nextStep() -> Step {
        guard isOnline else { return .nothing }
        if needsLogin {
            needsLogin = false
            // A login contains everything but events.
            unacknowledged = [:]
            unreported.removeAll { PropertyClass(ofPath: $0) != .event }
            return .login(ModelLogin(of: document))
        }
        if !unacknowledged.isEmpty {
            defer { unacknowledged = [:] }
            return .acknowledge(unacknowledged)
        }
        if let (name, write) = untold.min(by: { $0.key < $1.key }) { return .tellWrite(name: name, write) }
        var changes: [PropertyChange] = []
        var size = 0
        while changes.count < Self.maximumReportCount, size < Self.maximumReportSize, !unreported.isEmpty {
            let path = unreported.removeFirst()
            guard let reading = try? document.read(path) else { continue }
            changes.append(PropertyChange(path: path, value: reading.value, version: reading.version))
            size += reading.value.jsonBytes.count
        }
        return changes.isEmpty ? .nothing : .report(changes)
    }

    /// Stores a setting that was applied, and acknowledges it.
    mutating func carriedOut(_ name: String, _ delivery: Delivery) throws(IoTError) {
        _ = try document.applyDelivery(name, delivery)
        unacknowledged["\(PropertyClass.writable.rawValue).\(name)"] = delivery.version
        tellSetting(name)
    }

    mutating func tellChanges(to handler: @escaping @Sendable (DeviceChange) -> Void) {
        changed = handler
        for (name, entry) in (document.entries[.readonly] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let value = entry.value["stVal"] else { continue }
            handler(DeviceChange(path: "\(PropertyClass.readonly.rawValue).\(name)", value: value))
        }
    }

    private func tellSetting(_ name: String) {
        let path = "\(PropertyClass.writable.rawValue).\(name)"
        guard let changed, let value = try? document.read(path + ".setVal").value else { return }
        changed(DeviceChange(path: path, value: value))
    }

    // MARK: Settings from the device's own network

    /// Stores a setting that was applied. The newest one of each property is kept for the hub.
    mutating func wrote(_ name: String, _ write: LANWrite) throws(IoTError) {
        _ = try document.write(write.path, write.value, at: write.t)
        untold[name] = write
        tellSetting(name)
    }

    /// The hub knows this setting.
    mutating func told(_ name: String, _ write: LANWrite) {
        if untold[name] == write { untold[name] = nil }
    }

    /// The hub has refused this setting. The next login gets the hub's own, also if that is the version which was applied
    /// before.
    mutating func takeBack(_ name: String, _ write: LANWrite) {
        guard untold[name] == write else { return }
        untold[name] = nil
        document.setApplied(name, nil)
        startOver()
    }

    /// Decides between a setting from the hub and one that the hub does not know yet: the newer one counts. The hub
    /// knows it if it sends the same value: then only its answer was lost.
    ///
    /// - Throws: `deviceBusy` if the hub's is the older one. It gets the newer one next, and delivers that.
    mutating func yieldWrite(of name: String, to delivery: Delivery) throws(IoTError) {
        guard let write = untold[name] else { return }
        let isKnown = delivery.value["setVal"] == write.value
        guard isKnown || delivery.value["t"]?.integerValue ?? 0 >= write.t else {
            throw IoTError(.deviceBusy, "ProWritable.\(name) was written later, over the local network")
        }
        untold[name] = nil
    }

    // MARK: One write of a property at a time

    /// Resumes the caller when it may write: at once, or after the writes before it. Returns `false` when too many
    /// wait.
    mutating func enterWrite(_ name: String, _ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard let waiting = waitingWrites[name] else {
            waitingWrites[name] = []
            continuation.resume()
            return true
        }
        guard waiting.count < Self.maximumWaitingWrites else {
            continuation.resume()
            return false
        }
        waitingWrites[name]?.append(continuation)
        return true
    }

    mutating func leaveWrite(_ name: String) {
        guard var waiting = waitingWrites[name], !waiting.isEmpty else {
            waitingWrites[name] = nil
            return
        }
        let next = waiting.removeFirst()
        waitingWrites[name] = waiting
        next.resume()
    }
}
