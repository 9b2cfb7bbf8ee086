/// What an account may do with a device that it is bound to.
public enum DeviceAction: String, Codable, Hashable, Sendable, CaseIterable {
    /// Read the model, watch, listen, take snapshots, receive events and data.
    case view
    case talk
    case playback
    /// Take actions, send messages.
    case control
    /// Write properties and user properties, rename.
    case configure

    /// The actions in a JSON list. Unknown names are ignored; `nil` if `json` is not a list.
    public static func list(_ json: JSONValue?) -> [DeviceAction]? {
        json?.arrayValue?.compactMap { $0.stringValue.flatMap { DeviceAction(rawValue: $0) } }
    }
}
