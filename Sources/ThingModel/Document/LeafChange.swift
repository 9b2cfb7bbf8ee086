public import IoTCore

/// A changed leaf of an object: a value without members, with its full path.
public struct LeafChange: Sendable, Hashable {
    /// `ProWritable.recordPlan.setVal.timeSection1.begin`
    public var path: String

    /// The new value; `nil` when the leaf was removed.
    public var value: JSONValue?

    public init(path: String, value: JSONValue?) {
        self.path = path
        self.value = value
    }

    /// `{"path","value"}`; without `value` for a removed leaf.
    public var json: JSONValue {
        var json: JSONValue = ["path": .string(path)]
        json["value"] = value
        return json
    }

    public init?(json: JSONValue) {
        guard let path = json["path"]?.stringValue else { return nil }
        self.init(path: path, value: json["value"])
    }
}

extension PropertyChange {
    /// The leaves that differ between `previous` and `value`, sorted by path: applied to `previous`, they give `value`.
    ///
    /// A list is one leaf. An object with a member that no path can name is one leaf too. If `previous` is not known,
    /// all leaves are returned.
    public var leaves: [LeafChange] {
        if let toldLeaves { return toldLeaves }
        var leaves: [LeafChange] = []
        // `nil` alone would mean JSON's null here.
        let new: JSONValue? = value == .null ? Optional.none : value
        Self.compare(previous, new, at: path, into: &leaves)
        return leaves.sorted { $0.path < $1.path }
    }

    private static func compare(
        _ old: JSONValue?, _ new: JSONValue?, at path: String, into leaves: inout [LeafChange]
    ) {
        guard old != new else { return }
        switch (members(old), members(new)) {
        case (let old?, let new?):
            for (name, value) in new { compare(old[name], value, at: "\(path).\(name)", into: &leaves) }
            for name in old.keys where new[name] == nil {
                leaves.append(LeafChange(path: "\(path).\(name)", value: nil))
            }
        case (nil, let new?) where old == nil:
            for (name, value) in new { compare(nil, value, at: "\(path).\(name)", into: &leaves) }
        default: leaves.append(LeafChange(path: path, value: new))
        }
    }

    /// The members of an object; `nil` when it has none, or one that a path cannot name.
    private static func members(_ value: JSONValue?) -> [String: JSONValue]? {
        guard let members = value?.objectValue, !members.isEmpty else { return nil }
        let isNameable = members.keys.allSatisfy { name in
            (1...ThingSchema.maximumNameLength).contains(name.utf8.count) && !name.utf8.contains(UInt8(ascii: "."))
        }
        return isNameable ? members : nil
    }
}
