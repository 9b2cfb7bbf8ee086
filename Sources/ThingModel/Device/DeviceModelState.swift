import IoTCore

/// What a device's model has to do next. A value behind `DeviceModel`'s lock: no task, no clock, no link.
struct DeviceModelState: Sendable {
    /// One thing to do, in order.
    enum Step: Sendable {
        case login(ModelLogin)
        /// Paths with the newest objects at them.
        case report([PropertyChange])
        /// By path, the version of a setting that is now in force.
        case acknowledge([String: Int64])
        case nothing
    }

    /// The most changes in one report, and about the most bytes.
    static let maximumReportCount = 64
    static let maximumReportSize = 96 * 1024
    /// How many writes to one property may wait for each other.
    static let maximumWaitingWrites = 16

    var document: ThingDocument
    var actionHandlers: [String: DeviceModel.ActionHandler] = [:]
    var writeHandlers: [String: DeviceModel.WriteHandler] = [:]
    var runningActions: Set<String> = []
    private var isOnline = false
    private var needsLogin = true
    /// Objects to report, oldest first. One entry an object, so the schema bounds it: what changes twice before it is
    /// sent, is sent once.
    private var unreported: [String] = []
    private var unacknowledged: [String: Int64] = [:]
    private var waitingWrites: [String: [CheckedContinuation<Void, Never>]] = [:]

    init(schema: ThingSchema) {
        document = ThingDocument(schema: schema)
    }

    mutating func setOnline(_ online: Bool) {
        // Each new session logs in anew.
        if online { needsLogin = true }
        isOnline = online
    }

    /// What failed while online: the login says everything again.
    mutating func startOver() {
        needsLogin = true
    }

    /// Takes a report into the own document; false when nothing changed.
    mutating func report(_ path: String, _ value: JSONValue, at t: Int64) throws(IoTError) -> Bool {
        let before = document
        let change = try document.report(path, value, at: t)
        let propertyClass = PropertyClass(ofPath: change.path)
        let key = propertyClass == .readonly ? ".stVal" : ""
        if propertyClass != .event, let old = try? before.read(change.path + key),
            let new = try? document.read(change.path + key),
            old.value == new.value
        {
            document = before
            return false
        }
        if !unreported.contains(change.path) { unreported.append(change.path) }
        return true
    }

    mutating func nextStep() -> Step {
        guard isOnline else { return .nothing }
        if needsLogin {
            needsLogin = false
            // The login carries these; events it does not.
            unacknowledged = [:]
            unreported.removeAll { PropertyClass(ofPath: $0) != .event }
            return .login(ModelLogin(of: document))
        }
        if !unacknowledged.isEmpty {
            defer { unacknowledged = [:] }
            return .acknowledge(unacknowledged)
        }
        var changes: [PropertyChange] = []
        var size = 0
        while changes.count < Self.maximumReportCount, size < Self.maximumReportSize, !unreported.isEmpty {
            let path = unreported.removeFirst()
            guard let reading = try? document.read(path) else { continue }
            changes.append(PropertyChange(path: path, value: reading.value, version: reading.version))
            size += reading.value.jsonText.utf8.count
        }
        return changes.isEmpty ? .nothing : .report(changes)
    }

    /// A delivered setting is in force.
    mutating func carriedOut(_ name: String, _ delivery: Delivery) throws(IoTError) {
        _ = try document.applyDelivery(name, delivery)
        unacknowledged["\(PropertyClass.writable.rawValue).\(name)"] = delivery.version
    }

    // MARK: Writes, one after the other for each property

    /// Lets the caller write at once, or lets it wait; false when too many wait.
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
