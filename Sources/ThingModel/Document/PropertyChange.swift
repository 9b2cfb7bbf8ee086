public import IoTCore
import IoTLink

/// What one mutation did to a document.
public struct PropertyChange: Sendable, Hashable {
    /// The object that changed: `ProWritable._logLevel`.
    public var path: String

    /// The whole object as the document now shows it, `{"setVal":0,"t":1581993565}`; null when it was deleted.
    public var value: JSONValue

    /// The property's new version, which is also the document's.
    public var version: Int64

    /// The object before the change, where it is known; `nil` for a new object too.
    public var previous: JSONValue?

    /// What the hub said that changed, in a push; `leaves` gives it, or finds it.
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

/// What stands at a path, and since which version.
public struct PropertyReading: Sendable, Hashable {
    public var value: JSONValue

    /// The property's version; the document's for a class or the whole model.
    public var version: Int64

    public init(value: JSONValue, version: Int64) {
        self.value = value
        self.version = version
    }
}

/// What the value is now, when a conditional write lost its race; `IoTError.versionConflict` finds it.
public struct VersionConflict: Sendable, Hashable {
    public var path: String

    /// The value at the path that was to be written; null when there is none any more.
    public var value: JSONValue

    /// The property's version; 0 when there is no such property.
    public var version: Int64

    public init(path: String, value: JSONValue, version: Int64) {
        self.path = path
        self.value = value
        self.version = version
    }

    /// As an answer carries it beside the error: `{"path","value","version"}`.
    public var json: JSONValue {
        ["path": .string(path), "value": value, "version": .integer(version)]
    }

    public init?(json: JSONValue) {
        guard let value = json["value"], let version = json["version"]?.integerValue else { return nil }
        self.init(path: json["path"]?.stringValue ?? "", value: value, version: version)
    }
}

extension IoTError {
    /// What the value was when a conditional write lost its race; `nil` for every other error.
    public var versionConflict: VersionConflict? {
        guard code == .versionConflict, let refusal = underlying as? LinkRefusal else { return nil }
        return VersionConflict(json: refusal.result)
    }

    /// A lost race, in the form that a link reply carries to the caller with the value and version there are.
    static func versionConflict(_ conflict: VersionConflict, expected: Int64) -> IoTError {
        IoTError(
            .versionConflict,
            "\(conflict.path) has version \(conflict.version), not \(expected); its value is \(conflict.value.excerpt)",
            underlying: LinkRefusal(result: conflict.json))
    }
}
