/// The methods that the link itself speaks; every other one belongs to who registers a handler for it.
public enum LinkMethod {
    /// Request: we are here; its success means online.
    public static let begin = "session.begin"
    /// Push, and the MQTT will: we are gone, `reason` "left" or "connectionLost".
    public static let end = "session.end"
    public static let heartbeat = "session.heartbeat"
    /// Push of the hub: another registration of the same principal took over.
    public static let kick = "session.kick"
}
