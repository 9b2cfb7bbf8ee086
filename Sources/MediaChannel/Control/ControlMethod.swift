import NIOCore

/// The methods of a call's control channel, and who sends them (docs/channels.md).
enum ControlMethod: String, CaseIterable {
    /// The label of the data channel. The caller opens it when it is first needed.
    static let channelLabel = "iotlink.control"

    // MARK: Requests of the caller

    /// The caller begins to talk. Refused with 25047 while another caller talks.
    case talkStart = "talk.start"
    case talkStop = "talk.stop"

    /// Which definition the caller gets, and which ones there are.
    case definitionGet = "definition.get"
    /// Changes the definition. The response comes when the change has taken effect.
    case definitionSet = "definition.set"

    /// What the caller cannot measure itself: the camera's stream, and the path to the caller.
    case statisticsGet = "statistics.get"

    /// Recordings by page, and days with recordings.
    case playbackList = "playback.list"
    case playbackDays = "playback.days"
    /// Plays recordings from a time on.
    case playbackSeek = "playback.seek"
    case playbackPause = "playback.pause"
    case playbackResume = "playback.resume"
    case playbackSpeed = "playback.speed"
    /// Shows the next picture and stays paused.
    case playbackStep = "playback.step"
    case playbackStop = "playback.stop"

    /// How long the device may take to answer.
    var timeout: TimeAmount {
        self == .definitionSet ? ViewerConnection.definitionPatience + .seconds(2) : .seconds(5)
    }

    // MARK: Notifications of the device

    /// The device ended the caller's talk: `code` and `message`.
    case talkEnded = "talk.ended"
    /// A file begins or ends, a gap is skipped, the position, or the end: `event`, and what belongs to it.
    case playbackEvent = "playback.event"

    /// Whether only a playback channel has it.
    var isOfPlayback: Bool { rawValue.hasPrefix("playback.") }
}
