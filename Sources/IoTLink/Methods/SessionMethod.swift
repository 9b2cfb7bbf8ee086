public import IoTCore

/// What the link itself speaks, and by which a box joins; `docs/link.md`, "Sessions" and "Enrolment".
public enum SessionMethod {
    /// We are here; its success means online.
    public static let begin = LinkMethod<JSONValue, JSONValue>("session.begin")
    public static let heartbeat = LinkMethod<JSONValue, JSONValue>("session.heartbeat")
    /// We are gone, `reason` "left" or "connectionLost"; also the MQTT will.
    public static let end = LinkPushMethod<JSONValue>("session.end")
    /// Of the hub: another registration of the same principal took over.
    public static let kick = LinkPushMethod<JSONValue>("session.kick")
    /// Tokens in exchange for an enrolment.
    public static let exchangeEnrolment = LinkMethod<JSONValue, JSONValue>("enrol.exchange", enrolment: .enrolment)
}
