/// The methods that open a channel: the messages of ONVIF WebRTC in link envelopes (`docs/channels.md`).
public enum CallMethod {
    /// The longest time that a side of a call has to answer.
    private static let maximumDeadline = Duration.seconds(60)

    /// Issues a short-lived token for one device, one kind of channel and some actions.
    public static let token = LinkMethod<CallTokenQuery, CallToken>("call.token", user: .bound)
    public static let connect = LinkMethod<CallRequest, CallAcceptance>(
        "call.connect", user: .bound, longestDeadline: maximumDeadline)
    public static let invite = LinkMethod<CallInvitation, CallAnswer>(
        "call.invite", device: .peer, longestDeadline: maximumDeadline)
    public static let trickle = LinkMethod<CallCandidate, LinkNothing>(
        "call.trickle", user: .peer, device: .peer, longestDeadline: maximumDeadline)
    public static let control = LinkMethod<CallControl, LinkNothing>(
        "call.control", user: .peer, longestDeadline: maximumDeadline)
    public static let end = LinkMethod<CallEnding, LinkNothing>(
        "call.end", user: .peer, device: .peer, longestDeadline: maximumDeadline)
}
