/// One line of a schema's `DataDefs`: a property's class, name and value.
public struct PropertySchema: Sendable, Hashable {
    public var propertyClass: PropertyClass
    public var name: String
    public var description: String
    public var value: ValueSchema

    public init(_ propertyClass: PropertyClass, _ name: String, _ value: ValueSchema, description: String = "") {
        self.propertyClass = propertyClass
        self.name = name
        self.description = description
        self.value = value
    }

    public static func constant(_ name: String, _ value: ValueSchema, _ description: String = "") -> PropertySchema {
        PropertySchema(.constant, name, value, description: description)
    }

    public static func readonly(_ name: String, _ value: ValueSchema, _ description: String = "") -> PropertySchema {
        PropertySchema(.readonly, name, value, description: description)
    }

    public static func writable(_ name: String, _ value: ValueSchema, _ description: String = "") -> PropertySchema {
        PropertySchema(.writable, name, value, description: description)
    }

    /// An action. A `ProReadonly` property of the same name (its twin) is added automatically.
    public static func action(_ name: String, _ value: ValueSchema, _ description: String = "") -> PropertySchema {
        PropertySchema(.action, name, value, description: description)
    }

    public static func event(_ name: String, _ value: ValueSchema, _ description: String = "") -> PropertySchema {
        PropertySchema(.event, name, value, description: description)
    }
}
