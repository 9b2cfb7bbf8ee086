import IoTCore
import IoTLink

/// Tells a camera's callers of their calls: of those that ended, and of the camera's candidates.
///
/// Endings go one after the other; at most 256 wait, then the oldest caller finds out by its own time-out. The
/// candidates of each call have a queue of their own, as one caller that does not answer must not keep others waiting.
struct CallNotices: Sendable {
    /// As many as an agent ever has, and more.
    private static let maximumCandidates = 64

    /// Sends one request, and returns when it is answered or was given up.
    private let tell: @Sendable (_ method: String, _ params: JSONValue) async -> Void
    private let endings: AsyncStream<JSONValue>
    private let addEnding: AsyncStream<JSONValue>.Continuation
    private let feeds: AsyncStream<AsyncStream<JSONValue>>
    private let addFeed: AsyncStream<AsyncStream<JSONValue>>.Continuation

    init(tell: @escaping @Sendable (_ method: String, _ params: JSONValue) async -> Void) {
        self.tell = tell
        (endings, addEnding) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        (feeds, addFeed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    /// The channel ended from the camera's side.
    func end(peer: String, session: String, reason: IoTError) {
        addEnding.yield([
            "peer": .string(peer), "session": .string(session),
            "code": .integer(Int64(reason.code.rawValue)), "message": .string(reason.message),
        ])
    }

    /// Where one call's candidates go; letting go of it ends them.
    func candidates(peer: String, peerSession: JSONValue?, session: String) -> CandidateFeed {
        let (stream, continuation) = AsyncStream.makeStream(
            of: JSONValue.self, bufferingPolicy: .bufferingOldest(Self.maximumCandidates))
        addFeed.yield(stream)
        var params: JSONValue = ["peer": .string(peer), "session": .string(session)]
        if let peerSession { params["peerSession"] = peerSession }
        return CandidateFeed(params: params, continuation: continuation)
    }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await ending in endings { await tell(CallMethod.end.name, ending) }
            }
            group.addTask {
                await withDiscardingTaskGroup { calls in
                    for await feed in feeds {
                        calls.addTask {
                            for await candidate in feed { await tell(CallMethod.trickle.name, candidate) }
                        }
                    }
                }
            }
        }
    }
}
