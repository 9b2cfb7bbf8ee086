import MediaPlayer
import NIOCore

/// One user's part in a channel that several may share: its statistics begin when it plays, and its events end when it
/// leaves. Confined to the channel's event loop.
final class MonitorUse {
    let subscribers: MonitorSubscribers
    /// `nil` before this use plays.
    var statistics: PlayoutStatistics?
    /// The first picture that was decoded since this use joined, µs.
    var firstPicturePts: Int64?

    init(eventLoop: any EventLoop) {
        subscribers = MonitorSubscribers(eventLoop: eventLoop)
    }
}
