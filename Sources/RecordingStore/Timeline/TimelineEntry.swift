package import IoTCore

/// Something that happened at a camera that is recorded: a property changed, an event came, an action was carried out.
package struct TimelineEntry: Sendable, Hashable {
    package enum Kind: Int64, Sendable {
        /// A value that holds until the next one of the same name.
        case state = 0
        /// It is over at once.
        case moment = 1
    }

    /// The most bytes of a value's JSON. A longer value is stored as null.
    package static let mostBytes = 1_024

    /// µs since 1970.
    package var time: Int64
    package var kind: Kind
    /// The path of a property (`ProReadonly.source`) or an action, or the topic of an event.
    package var name: String
    package var value: JSONValue

    package init(time: Int64, kind: Kind, name: String, value: JSONValue) {
        self.time = time
        self.kind = kind
        self.name = name
        self.value = value.jsonBytes.count <= Self.mostBytes ? value : .null
    }
}

/// A place in a camera's timeline, right after an entry.
package struct TimelinePlace: Sendable, Hashable {
    /// µs since 1970.
    package var time: Int64
    /// Distinguishes entries of the same time.
    package var number: Int64

    package init(time: Int64, number: Int64) {
        self.time = time
        self.number = number
    }

    /// After all entries of this time.
    package init(after time: Int64) {
        self.init(time: time, number: .max)
    }
}
