import IoTCore
import IoTLink

/// Tells a camera's callers of their calls: of those that ended, and of the camera's candidates.
///
/// Endings go one after the other; at most 256 wait, then the oldest caller finds out by its own time-out. The
/// candidates of each call have a queue of their own, as one caller that does not answer must not keep others waiting.
struct CallNotices: Sendable {
    /// As many as an agent ever has, and more.
    private static let maximumCandidates = 64

    enum Notice: Sendable, Hashable {
        case ending(CallEnding)
        case candidate(CallCandidate)
    }

    /// Sends one request, and returns when it is answered or was given up.
    private let tell: @Sendable (Notice) async -> Void
    private let endings: AsyncStream<CallEnding>
    private let addEnding: AsyncStream<CallEnding>.Continuation
    private let feeds: AsyncStream<AsyncStream<CallCandidate>>
    private let addFeed: AsyncStream<AsyncStream<CallCandidate>>.Continuation

    init(tell: @escaping @Sendable (Notice) async -> Void) {
        self.tell = tell
        (endings, addEnding) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        (feeds, addFeed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    /// The channel ended from the camera's side.
    func end(_ route: CallRoute, reason: IoTError) {
        addEnding.yield(CallEnding(route, reason))
    }

    /// Where one call's candidates go; letting go of it ends them.
    func candidates(_ route: CallRoute) -> CandidateFeed {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CallCandidate.self, bufferingPolicy: .bufferingOldest(Self.maximumCandidates))
        addFeed.yield(stream)
        return CandidateFeed(route: route, continuation: continuation)
    }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await ending in endings { await tell(.ending(ending)) }
            }
            group.addTask {
                await withDiscardingTaskGroup { calls in
                    for await feed in feeds {
                        calls.addTask {
                            for await candidate in feed { await tell(.candidate(candidate)) }
                        }
                    }
                }
            }
        }
    }
}
