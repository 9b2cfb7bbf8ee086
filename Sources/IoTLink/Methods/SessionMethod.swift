/// The methods of the link itself, and the method for joining a hub; `docs/link.md`, "Sessions" and "Enrolment".
public enum SessionMethod {
    /// Begins a session. On success the session is online.
    public static let begin = LinkMethod<SessionBeginning, SessionBegun>("session.begin")
    /// Keeps a session. On success the session continues. It is also the mark of a handover (`LinkHandover`).
    public static let heartbeat = LinkMethod<SessionHeartbeat, SessionTime>("session.heartbeat")
    /// Ends a session; also the MQTT will.
    public static let end = LinkPushMethod<SessionEnding>("session.end")
    /// From the hub: the session has ended.
    public static let kick = LinkPushMethod<SessionKick>("session.kick")
    /// To the hub: who asked wants no more answers to a request that has many. From the hub to who answers it.
    public static let finish = LinkPushMethod<FinishedRequest>("request.finish")
    /// Exchanges an enrolment for tokens.
    public static let exchangeEnrolment = LinkMethod<EnrolmentExchange, EnrolmentTokens>(
        "enrol.exchange", enrolment: .enrolment)
}
