public import IoTCore

/// The thing model of one device: its schema, values and versions. A value without store, clock or lock.
///
/// Each mutation increments the document's version and assigns it to the changed property. So versions only increase,
/// also when a property is deleted and added again.
///
/// Times (`t`) are UTC seconds and come from the caller.
public struct ThingDocument: Sendable, Hashable {
    /// The largest document, in bytes of JSON text. A whole document fits in a link envelope of 256 KiB.
    public static let maximumSize = 240 * 1024
    /// The most user properties, `_buildIn` not counted.
    public static let maximumUserPropertyCount = 256
    /// The deepest nesting of a user property's value.
    public static let maximumUserValueDepth = 32

    /// One object of the document.
    struct Entry: Sendable, Hashable {
        var value: JSONValue
        var version: Int64
        /// The version that the device last acknowledged, for `ProWritable`.
        var appliedVersion: Int64?
    }

    public internal(set) var schema: ThingSchema
    public internal(set) var version: Int64
    var entries: [PropertyClass: [String: Entry]]

    /// The document's size in bytes of JSON text, updated with each change.
    public private(set) var size: Int

    /// Creates a document at version 1 with the defaults of the schema. All times are 0.
    public init(schema: ThingSchema) {
        self.schema = schema
        version = 1
        entries = [:]
        for property in schema.properties {
            let object = Self.object(of: property.propertyClass, value: property.value.defaultValue)
            entries[property.propertyClass, default: [:]][property.name] = Entry(value: object, version: 1)
        }
        entries[.user] = [ThingSchema.builtInUserProperty: Entry(value: Self.builtInUserObject, version: 1)]
        size = 0
        size = Self.size(of: entries)
    }

    init(schema: ThingSchema, version: Int64, entries: [PropertyClass: [String: Entry]]) {
        self.schema = schema
        self.version = version
        self.entries = entries
        size = Self.size(of: entries)
    }

    /// The whole model in the vendor's form, without versions.
    public var value: JSONValue {
        var root: [String: JSONValue] = [:]
        for propertyClass in PropertyClass.allCases {
            if propertyClass == .event, entries[.event]?.isEmpty ?? true { continue }
            root[propertyClass.rawValue] = classValue(propertyClass)
        }
        return .object(root)
    }

    func classValue(_ propertyClass: PropertyClass) -> JSONValue {
        .object((entries[propertyClass] ?? [:]).mapValues(\.value))
    }

    /// Stores an object with the next version.
    mutating func store(
        _ value: JSONValue, _ propertyClass: PropertyClass, _ name: String
    ) throws(IoTError) -> PropertyChange {
        let name = spelling(of: propertyClass, name)
        let old = entries[propertyClass]?[name]
        let newSize = size - (old.map { Self.size(of: $0.value, name: name) } ?? 0) + Self.size(of: value, name: name)
        guard newSize <= Self.maximumSize || newSize <= size else {
            throw IoTError(
                .payloadTooLarge,
                "the model would have \(newSize) bytes; at most \(Self.maximumSize) are allowed; delete user properties"
                    + " or shorten values")
        }
        size = newSize
        version += 1
        entries[propertyClass, default: [:]][name] = Entry(
            value: value, version: version, appliedVersion: old?.appliedVersion)
        return PropertyChange(
            path: "\(propertyClass.rawValue).\(name)", value: value, version: version, previous: old?.value)
    }

    mutating func remove(_ propertyClass: PropertyClass, _ name: String) -> PropertyChange {
        let name = spelling(of: propertyClass, name)
        let old = entries[propertyClass]?.removeValue(forKey: name)
        if let old { size -= Self.size(of: old.value, name: name) }
        version += 1
        return PropertyChange(
            path: "\(propertyClass.rawValue).\(name)", value: .null, version: version, previous: old?.value)
    }

    /// The object's name in its first spelling, which is always used.
    ///
    /// Swift treats `é` as one scalar and as two as the same name; a database that compares bytes does not, and would
    /// hold two rows for one object. Keeping the first spelling needs no normalization, and so no second Unicode table
    /// that could differ from Swift's.
    func spelling(of propertyClass: PropertyClass, _ name: String) -> String {
        guard let objects = entries[propertyClass], let index = objects.index(forKey: name) else { return name }
        return objects.keys[index]
    }

    mutating func setApplied(_ name: String, _ appliedVersion: Int64?) {
        entries[.writable]?[name]?.appliedVersion = appliedVersion
    }

    /// Wraps a value as its class requires.
    static func object(of propertyClass: PropertyClass, value: JSONValue, t: Int64 = 0) -> JSONValue {
        switch propertyClass {
        case .constant: value
        case .readonly, .event: ["stVal": value, "t": .integer(t)]
        case .writable: ["setVal": value, "t": .integer(t)]
        case .action: ["ctlVal": value, "origin": "", "t": .integer(t)]
        case .user: ["t": .integer(t), "val": value]
        }
    }

    private static let builtInUserObject = object(of: .user, value: ["almEvtPushEna": 0, "nickName": ""])

    // The object's text, its quoted name, a colon and a comma. `frame` counts the six class names.
    private static func size(of value: JSONValue, name: String) -> Int {
        value.jsonBytes.count + JSONValue.string(name).jsonBytes.count + 2
    }

    private static func size(of entries: [PropertyClass: [String: Entry]]) -> Int {
        let frame = 96
        return entries.values.reduce(frame) { sum, objects in
            objects.reduce(sum) { $0 + size(of: $1.value.value, name: $1.key) }
        }
    }
}
