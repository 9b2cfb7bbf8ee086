public import IoTCore
import IoTLink

/// The change of one object of a document.
public struct PropertyChange: Sendable, Hashable {
    /// The object that changed: `ProWritable._logLevel`.
    public var path: String

    /// The whole object after the change, `{"setVal":0,"t":1581993565}`; null when it was deleted.
    public var value: JSONValue

    /// The property's new version, which is also the document's.
    public var version: Int64

    /// The object before the change; `nil` when it is new, or when its old value is not known.
    public var previous: JSONValue?

    /// The changed leaves from the hub's push. If they are `nil`, `leaves` computes them.
    var toldLeaves: [LeafChange]?

    public init(path: String, value: JSONValue, version: Int64, previous: JSONValue? = nil) {
        self.path = path
        self.value = value
        self.version = version
        self.previous = previous
    }

    /// `{"path","value","version"}`
    public var json: JSONValue {
        ["path": .string(path), "value": value, "version": .integer(version)]
    }
}

/// The value at a path, and its version.
public struct PropertyReading: Sendable, Hashable {
    public var value: JSONValue

    /// The version of the property, or of the document for a class or the whole model.
    public var version: Int64

    public init(value: JSONValue, version: Int64) {
        self.value = value
        self.version = version
    }
}

/// The current value, when a conditional write lost the race. See `IoTError.versionConflict`.
public struct VersionConflict: Sendable, Hashable {
    public var path: String

    /// The value at the written path; null when there is none.
    public var value: JSONValue

    /// The property's version; 0 when there is no such property.
    public var version: Int64

    public init(path: String, value: JSONValue, version: Int64) {
        self.path = path
        self.value = value
        self.version = version
    }

    /// The result that accompanies the error: `{"path","value","version"}`.
    public var json: JSONValue {
        ["path": .string(path), "value": value, "version": .integer(version)]
    }

    public init?(json: JSONValue) {
        guard let value = json["value"], let version = json["version"]?.integerValue else { return nil }
        self.init(path: json["path"]?.stringValue ?? "", value: value, version: version)
    }
}

extension IoTError {
    /// The current value, when a conditional write lost the race; `nil` for every other error.
    public var versionConflict: VersionConflict? {
        guard code == .versionConflict, let refusal = underlying as? LinkRefusal else { return nil }
        return VersionConflict(json: refusal.result)
    }

    /// The error for a lost race. A link reply carries the current value and version to the caller.
    static func versionConflict(_ conflict: VersionConflict, expected: Int64) -> IoTError {
        IoTError(
            .versionConflict,
            "\(conflict.path) has version \(conflict.version), not \(expected); its value is \(conflict.value.excerpt)",
            underlying: LinkRefusal(result: conflict.json))
    }
}
