public import IoTCore

extension ThingDocument {
    /// Notes that the device carries out `version` of a `ProWritable` property; an older note changes nothing, nor
    /// does one of a version that does not exist.
    /// - Returns: The property's path, as a store has it.
    @discardableResult
    public mutating func markApplied(_ path: String, version applied: Int64) throws(IoTError) -> String {
        let name = spelling(of: .writable, try writableName(path))
        let entry = try entry(.writable, name)
        if applied <= entry.version, applied > entry.appliedVersion ?? 0 { setApplied(name, applied) }
        return "\(PropertyClass.writable.rawValue).\(name)"
    }

    /// The `ProWritable` objects whose newest value the device has not yet said to carry out.
    public var pendingPaths: [String] {
        (entries[.writable] ?? [:]).filter { $0.value.appliedVersion != $0.value.version }
            .keys.sorted().map { "\(PropertyClass.writable.rawValue).\($0)" }
    }

    /// The version of each `ProWritable` object that the device carries out, by path; for its login.
    public var appliedVersions: [String: Int64] {
        var versions: [String: Int64] = [:]
        for (name, entry) in entries[.writable] ?? [:] {
            versions["\(PropertyClass.writable.rawValue).\(name)"] = entry.appliedVersion
        }
        return versions
    }

    /// What a device that comes online says of itself is taken over, and what it must carry out is found.
    ///
    /// The schema is adopted, `ProConst` and `ProReadonly` are taken as reported (`_online` apart, which is the
    /// hub's), and every `ProWritable` whose version is not the one that the device names is to be delivered.
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

    /// On the device: takes over a delivered `ProWritable` object with the hub's version of it.
    mutating func applyDelivery(_ name: String, _ delivery: Delivery) throws(IoTError) -> PropertyChange {
        let change = try write(
            "ProWritable.\(name)", delivery.value, at: delivery.value["t"]?.integerValue ?? 0)
        setApplied(name, delivery.version)
        return change
    }

    func writableName(_ path: String) throws(IoTError) -> String {
        let path = try PropertyPath(parsing: path)
        guard path.propertyClass == .writable, let name = path.object, path.members.isEmpty else {
            throw IoTError(.pathInvalid, "'\(path)' is no writable property; its path is ProWritable.NAME")
        }
        return name
    }
}
