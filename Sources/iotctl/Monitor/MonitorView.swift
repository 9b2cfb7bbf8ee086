import GatewayAPI
import IoTCore
import Synchronization

/// The state of a channel, from the events received so far.
final class MonitorView: Sendable {
    struct Contents: Sendable {
        var state: ChannelState?
        var statistics: StatisticsReport?
        /// The newest error that did not end the channel.
        var warning: APIError?
        /// What a playback channel has reported: the time of the last picture, ms since 1970.
        var time: Int64?
        /// The recordings that a playback channel could not play whole, the first thousand.
        var unreadable: [PlaybackReport] = []
        var final: ChannelDescription?
    }

    private let state = Mutex(Contents())

    var contents: Contents { state.withLock { $0 } }

    func receive(_ update: ChannelUpdate) {
        state.withLock { contents in
            switch update {
            case .state(let state): contents.state = state
            case .statistics(let report): contents.statistics = report
            case .warning(let error): contents.warning = error
            case .playback(let report):
                contents.time = report.time ?? contents.time
                if report.event == .didEndFile, report.error != nil, contents.unreadable.count < 1_000 {
                    contents.unreadable.append(report)
                }
            case .discontinuity, .stage, .replay: break
            case .end(let description): contents.final = description
            }
        }
    }

    /// The reason if the channel failed.
    var failure: IoTError? {
        let contents = contents
        if let reason = contents.final?.state.reason { return reason.error }
        return contents.state?.isInterrupted == true ? nil : contents.state?.reason?.error
    }
}
