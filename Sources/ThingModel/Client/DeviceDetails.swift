public import IoTCore
public import IoTLink

/// The result of `device.show`.
public struct DeviceDetails: LinkValue, Hashable {
    public var summary: DeviceSummary
    /// The whole model.
    public var model: JSONValue
    /// The document's version.
    public var version: Int64
    /// The paths of the `ProWritable` objects that the device has not applied yet.
    public var pending: [String]

    public init(summary: DeviceSummary, model: JSONValue, version: Int64, pending: [String]) {
        self.summary = summary
        self.model = model
        self.version = version
        self.pending = pending
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        summary = try DeviceSummary(members)
        model = members["model"] ?? [:]
        version = try members.integer("version")
        pending = try members.optionalTexts("pending") ?? []
    }

    public var json: JSONValue {
        var json = summary.json
        json["model"] = model
        json["version"] = .integer(version)
        json["pending"] = .texts(pending)
        return json
    }
}

/// `device.export`
extension DeviceExport: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        var versions: [String: Int64] = [:]
        for (path, version) in members["versions"]?.objectValue ?? [:] {
            guard let version = version.integerValue else { throw members.wrong("versions", "whole numbers") }
            versions[path] = version
        }
        self.init(
            id: try members.text("id"), name: try members.text("name"), schema: members["schema"] ?? .null,
            model: members["model"] ?? .null, versions: versions)
    }

    public var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "schema": schema, "model": model,
            "versions": .object(versions.mapValues { .integer($0) }),
        ]
    }
}
