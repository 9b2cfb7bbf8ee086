import IoTCore

/// Passes a device's notifications on to the parts of a channel, which are made after the call's feed. Confined to the
/// channel's event loop.
final class ControlNotifications {
    weak var talk: ChannelTalk?
    /// An event of playback, as in docs/channels.md.
    var onPlayback: (JSONValue) -> Void = { _ in }

    func receive(_ method: ControlMethod, _ params: JSONValue) {
        switch method {
        case .talkEnded: talk?.endedByDevice(params)
        case .playbackEvent: onPlayback(params)
        default: break
        }
    }
}
