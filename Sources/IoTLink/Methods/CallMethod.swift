public import IoTCore

/// Opening a channel: ONVIF WebRTC's message set in link envelopes (`docs/channels.md`).
public enum CallMethod {
    /// How long a side of a call may be given to answer.
    private static let patience = Duration.seconds(60)

    /// A short-lived permission for one device, one kind of channel and some actions.
    public static let token = LinkMethod<JSONValue, JSONValue>("call.token", user: .bound)
    public static let connect = LinkMethod<JSONValue, JSONValue>(
        "call.connect", user: .bound, longestDeadline: patience)
    public static let invite = LinkMethod<JSONValue, JSONValue>(
        "call.invite", device: .peer, longestDeadline: patience)
    public static let trickle = LinkMethod<JSONValue, JSONValue>(
        "call.trickle", user: .peer, device: .peer, longestDeadline: patience)
    public static let control = LinkMethod<JSONValue, JSONValue>(
        "call.control", user: .peer, longestDeadline: patience)
    public static let end = LinkMethod<JSONValue, JSONValue>(
        "call.end", user: .peer, device: .peer, longestDeadline: patience)
}
