/// What the link itself speaks, and by which a box joins; `docs/link.md`, "Sessions" and "Enrolment".
public enum SessionMethod {
    /// We are here; its success means online.
    public static let begin = LinkMethod<SessionBeginning, SessionBegun>("session.begin")
    /// Its success means that the session goes on; also the mark of a connection that it moves to.
    public static let heartbeat = LinkMethod<SessionHeartbeat, SessionTime>("session.heartbeat")
    /// We are gone; also the MQTT will.
    public static let end = LinkPushMethod<SessionEnding>("session.end")
    /// Of the hub: the session is over.
    public static let kick = LinkPushMethod<SessionKick>("session.kick")
    /// Tokens in exchange for an enrolment.
    public static let exchangeEnrolment = LinkMethod<EnrolmentExchange, EnrolmentTokens>(
        "enrol.exchange", enrolment: .enrolment)
}
