/// The link's methods for opening a channel: ONVIF WebRTC's message set in link envelopes (`docs/channels.md`).
enum CallMethod {
    static let token = "call.token"
    static let connect = "call.connect"
    static let invite = "call.invite"
    static let trickle = "call.trickle"
    static let control = "call.control"
    static let end = "call.end"
}

/// What a viewer asks of a connected channel.
enum CallCommand: String {
    case play
    case stop
}
