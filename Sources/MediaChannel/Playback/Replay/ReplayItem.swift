public import IoTCore

/// Something that happened at a camera while it was recorded.
public struct ReplayItem: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// `name` is its topic, `value` its body.
        case event
        /// `name` is its path, for example `ProReadonly.source`; `value` is its value from then on.
        case property
        /// `name` is its path, for example `Action.takePhoto`; `value` is that of the command.
        case action
    }

    /// µs since 1970.
    public var time: Int64
    public var kind: Kind
    public var name: String
    public var value: JSONValue

    public init(time: Int64, kind: Kind, name: String, value: JSONValue) {
        self.time = time
        self.kind = kind
        self.name = name
        self.value = value
    }
}

/// What a receiver does with replayed items.
public enum ReplayMode: String, Sendable, Hashable, CaseIterable {
    /// After a jump: they are all that holds at this moment, and replace what was known.
    case overwrite
    /// They happened since the last ones.
    case append
}
