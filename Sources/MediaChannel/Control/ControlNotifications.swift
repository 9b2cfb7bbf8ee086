import IoTCore

/// Passes a device's notifications on to the parts of a channel, which are made after the call's feed. Confined to the
/// channel's event loop.
final class ControlNotifications {
    weak var talk: ChannelTalk?

    func receive(_ method: ControlMethod, _ params: JSONValue) {
        switch method {
        case .talkEnded: talk?.endedByDevice(params)
        case .talkStart, .talkStop, .definitionGet, .definitionSet, .statisticsGet: break
        }
    }
}
