/// A set of `DeviceAction`s, as the hub stores it.
public struct BindingActions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    // The hub's database stores these bits: do not change them.
    public static let view = BindingActions(rawValue: 1)
    public static let talk = BindingActions(rawValue: 2)
    public static let playback = BindingActions(rawValue: 4)
    public static let control = BindingActions(rawValue: 8)
    public static let configure = BindingActions(rawValue: 16)

    public static let all: BindingActions = [.view, .talk, .playback, .control, .configure]

    public init(_ action: DeviceAction) {
        switch action {
        case .view: self = .view
        case .talk: self = .talk
        case .playback: self = .playback
        case .control: self = .control
        case .configure: self = .configure
        }
    }

    public init(_ list: [DeviceAction]) {
        self = list.reduce(into: []) { $0.insert(BindingActions($1)) }
    }

    /// In the order of the declarations.
    public var list: [DeviceAction] { DeviceAction.allCases.filter { contains(BindingActions($0)) } }

    public var names: [String] { list.map(\.rawValue) }

    /// One action by its name; `nil` for any other word.
    public init?(name: String) {
        guard let action = DeviceAction(rawValue: name) else { return nil }
        self.init(action)
    }

    /// Reads a list of names; `nil` if one of them is not the name of an action.
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
