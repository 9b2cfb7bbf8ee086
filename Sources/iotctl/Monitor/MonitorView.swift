import GatewayAPI
import IoTCore
import Synchronization

/// What the channel's events have told so far.
final class MonitorView: Sendable {
    struct Contents: Sendable {
        var state: ChannelState?
        var statistics: StatisticsReport?
        /// The newest failure that the channel survived.
        var warning: APIError?
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
            case .discontinuity: break
            case .end(let description): contents.final = description
            }
        }
    }

    /// Why the channel failed, where it did.
    var failure: IoTError? {
        let contents = contents
        return (contents.final?.state.reason ?? contents.state?.reason)?.error
    }
}
