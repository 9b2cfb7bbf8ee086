/// The methods that the link itself speaks; every other one belongs to who registers a handler for it.
public enum LinkMethod {
    /// Request: we are here; its success means online.
    public static let begin = "session.begin"
    /// Push, and the MQTT will: we are gone, `reason` "left" or "connectionLost".
    public static let end = "session.end"
    public static let heartbeat = "session.heartbeat"
    /// Request: a new token in place of the one that ends.
    public static let renewToken = "token.renew"
    /// Request of an enrolment: tokens in exchange for itself.
    public static let exchangeEnrolment = "enrol.exchange"
    /// Push of the hub: another registration of the same principal took over.
    public static let kick = "session.kick"
}
