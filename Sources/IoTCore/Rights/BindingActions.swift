/// What an account may do with a device that it is bound to.
public struct BindingActions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Read the model, watch, listen, take snapshots, receive events and data.
    public static let view = BindingActions(rawValue: 1)
    public static let talk = BindingActions(rawValue: 2)
    public static let playback = BindingActions(rawValue: 4)
    /// Take actions, send messages.
    public static let control = BindingActions(rawValue: 8)
    /// Write properties and user properties, rename.
    public static let configure = BindingActions(rawValue: 16)

    public static let all: BindingActions = [.view, .talk, .playback, .control, .configure]

    private static let table: [(name: String, action: BindingActions)] = [
        ("view", .view), ("talk", .talk), ("playback", .playback), ("control", .control), ("configure", .configure),
    ]

    /// As on the wire, in the order of the declarations above.
    public var names: [String] { Self.table.filter { contains($0.action) }.map(\.name) }

    /// One action by its name; `nil` for any other word.
    public init?(name: String) {
        guard let entry = Self.table.first(where: { $0.name == name }) else { return nil }
        self = entry.action
    }

    /// Reads a list of names; `nil` when one is none.
    public init?(json: JSONValue) {
        guard let list = json.arrayValue else { return nil }
        self = []
        for name in list {
            guard let action = name.stringValue.flatMap({ BindingActions(name: $0) }) else { return nil }
            insert(action)
        }
    }

    public var json: JSONValue { .array(names.map { .string($0) }) }
}
