/// Opening a channel: ONVIF WebRTC's message set in link envelopes (`docs/channels.md`).
public enum CallMethod {
    /// How long a side of a call may be given to answer.
    private static let patience = Duration.seconds(60)

    /// A short-lived permission for one device, one kind of channel and some actions.
    public static let token = LinkMethod<CallTokenQuery, CallToken>("call.token", user: .bound)
    public static let connect = LinkMethod<CallRequest, CallAcceptance>(
        "call.connect", user: .bound, longestDeadline: patience)
    public static let invite = LinkMethod<CallInvitation, CallAnswer>(
        "call.invite", device: .peer, longestDeadline: patience)
    public static let trickle = LinkMethod<CallCandidate, LinkNothing>(
        "call.trickle", user: .peer, device: .peer, longestDeadline: patience)
    public static let control = LinkMethod<CallControl, LinkNothing>(
        "call.control", user: .peer, longestDeadline: patience)
    public static let end = LinkMethod<CallEnding, LinkNothing>(
        "call.end", user: .peer, device: .peer, longestDeadline: patience)
}
