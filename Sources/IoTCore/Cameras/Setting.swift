/// A setting with a default, which applies until a value is given.
@propertyWrapper
public struct Setting<Value: Sendable & Hashable>: Sendable {
    public let defaultValue: Value
    public var given: Value?

    public init(default defaultValue: Value) {
        self.defaultValue = defaultValue
    }

    public var wrappedValue: Value {
        get { given ?? defaultValue }
        set { given = newValue }
    }

    public var projectedValue: Setting {
        get { self }
        set { self = newValue }
    }
}

/// Compares the effective values: giving the default explicitly makes no difference.
extension Setting: Hashable {
    public static func == (left: Setting, right: Setting) -> Bool {
        left.wrappedValue == right.wrappedValue
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(wrappedValue)
    }
}
