import IoTCore
import IoTLink

/// Notifies a camera's callers of the end of their calls and of the camera's candidates.
///
/// Endings are sent one after the other. At most 256 wait; if one is dropped, its caller notices by a timeout. The
/// candidates of each call have their own queue, so that a caller that does not answer does not delay others.
struct CallNotices: Sendable {
    /// More than an agent ever has.
    private static let maximumCandidates = 64

    enum Notice: Sendable, Hashable {
        case ending(CallEnding)
        case candidate(CallCandidate)
    }

    /// Sends one request and returns when it was answered or has failed.
    private let send: @Sendable (Notice) async -> Void
    private let endings: AsyncStream<CallEnding>
    private let addEnding: AsyncStream<CallEnding>.Continuation
    private let feeds: AsyncStream<AsyncStream<CallCandidate>>
    private let addFeed: AsyncStream<AsyncStream<CallCandidate>>.Continuation

    init(send: @escaping @Sendable (Notice) async -> Void) {
        self.send = send
        (endings, addEnding) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        (feeds, addFeed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    /// The camera ended the channel.
    func end(_ route: CallRoute, reason: IoTError) {
        addEnding.yield(CallEnding(route, reason))
    }

    /// Returns the queue for one call's candidates; releasing it ends them.
    func candidates(_ route: CallRoute) -> CandidateFeed {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CallCandidate.self, bufferingPolicy: .bufferingOldest(Self.maximumCandidates))
        addFeed.yield(stream)
        return CandidateFeed(route: route, continuation: continuation)
    }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await ending in endings { await send(.ending(ending)) }
            }
            group.addTask {
                await withDiscardingTaskGroup { calls in
                    for await feed in feeds {
                        calls.addTask {
                            for await candidate in feed { await send(.candidate(candidate)) }
                        }
                    }
                }
            }
        }
    }
}
