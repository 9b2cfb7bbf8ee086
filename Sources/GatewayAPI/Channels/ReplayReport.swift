public import IoTCore

/// What happened at the camera that a playback channel plays: the server-sent event `replay`. Times are ms since 1970.
public struct ReplayReport: Codable, Hashable, Sendable {
    public enum Mode: String, Codable, Hashable, Sendable, CaseIterable {
        /// After a jump: the items are all that holds at this moment, and replace what was known.
        case overwrite
        /// The items happened since the last ones.
        case append
    }

    /// An event, with `topic` and `body`; or with `path` and `value` a property's new value, or an action that was carried
    /// out.
    public struct Item: Codable, Hashable, Sendable {
        public var time: Int64
        public var topic: String?
        public var body: JSONValue?
        public var path: String?
        public var value: JSONValue?

        public init(
            time: Int64, topic: String? = nil, body: JSONValue? = nil, path: String? = nil, value: JSONValue? = nil
        ) {
            self.time = time
            self.topic = topic
            self.body = body
            self.path = path
            self.value = value
        }
    }

    public var mode: Mode
    public var items: [Item]

    public init(mode: Mode, items: [Item]) {
        self.mode = mode
        self.items = items
    }
}
