public import IoTCore

extension ThingDocument {
    /// Records that the device has applied `version` of a `ProWritable` property. Ignores a version that is not newer
    /// than the applied one, or that does not exist.
    ///
    /// - Returns: the property's path in its stored spelling.
    @discardableResult
    public mutating func markApplied(_ path: String, version applied: Int64) throws(IoTError) -> String {
        let name = spelling(of: .writable, try writableName(path))
        let entry = try entry(.writable, name)
        if applied <= entry.version, applied > entry.appliedVersion ?? 0 { setApplied(name, applied) }
        return "\(PropertyClass.writable.rawValue).\(name)"
    }

    /// The paths of the `ProWritable` objects with a newest value that the device has not acknowledged.
    public var pendingPaths: [String] {
        (entries[.writable] ?? [:]).filter { $0.value.appliedVersion != $0.value.version }
            .keys.sorted().map { "\(PropertyClass.writable.rawValue).\($0)" }
    }

    /// The applied version of each `ProWritable` object, by path, for the device's login.
    public var appliedVersions: [String: Int64] {
        var versions: [String: Int64] = [:]
        for (name, entry) in entries[.writable] ?? [:] {
            versions["\(PropertyClass.writable.rawValue).\(name)"] = entry.appliedVersion
        }
        return versions
    }

    /// Applies the login of a device, and determines the settings to deliver.
    ///
    /// It adopts the schema and stores the reported `ProConst` and `ProReadonly`, except `_online`, which only the hub
    /// sets. Delivers every `ProWritable` object of which the device lacks the newest version.
    public mutating func login(_ login: ModelLogin, at t: Int64) throws(IoTError) -> LoginOutcome {
        var next = self
        let adopted = try next.adopt(login.schema)
        var changes: [PropertyChange] = adopted.changes
        for (name, value) in login.constants.sorted(by: { $0.key < $1.key })
        where next.entries[.constant]?[name]?.value != value {
            changes.append(try next.report("ProConst.\(name)", value, at: t))
        }
        for (name, value) in login.readonly.sorted(by: { $0.key < $1.key })
        where name != "_online" && next.entries[.readonly]?[name]?.value != value {
            changes.append(try next.report("ProReadonly.\(name)", value, at: t))
        }
        var deliveries: [String: Delivery] = [:]
        for (name, entry) in next.entries[.writable] ?? [:] {
            let held = login.writableVersions["\(PropertyClass.writable.rawValue).\(name)"]
            next.setApplied(name, held == entry.version ? held : nil)
            if held != entry.version { deliveries[name] = Delivery(value: entry.value, version: entry.version) }
        }
        self = next
        return LoginOutcome(changes: changes, dropped: adopted.dropped, writable: deliveries)
    }

    /// On the device: stores a delivered `ProWritable` object and the hub's version of it.
    mutating func applyDelivery(_ name: String, _ delivery: Delivery) throws(IoTError) -> PropertyChange {
        let change = try write(
            "ProWritable.\(name)", delivery.value, at: delivery.value["t"]?.integerValue ?? 0)
        setApplied(name, delivery.version)
        return change
    }

    func writableName(_ path: String) throws(IoTError) -> String {
        let path = try PropertyPath(parsing: path)
        guard path.propertyClass == .writable, let name = path.object, path.members.isEmpty else {
            throw IoTError(.pathInvalid, "'\(path)' is not a writable property; the path must be ProWritable.NAME")
        }
        return name
    }
}
