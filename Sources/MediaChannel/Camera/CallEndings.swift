import IoTCore
import IoTLink

/// A channel that ended from the camera's side, of which the caller is to be told.
struct CallEnding: Sendable {
    let peer: String
    let session: String
    let reason: IoTError
}

/// Tells callers, one after the other. At most 256 wait; then the oldest caller finds out by its own time-out.
struct CallEndings: Sendable {
    private let link: LinkSession
    private let endings: AsyncStream<CallEnding>
    private let continuation: AsyncStream<CallEnding>.Continuation

    init(link: LinkSession) {
        self.link = link
        (endings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    func add(_ ending: CallEnding) {
        continuation.yield(ending)
    }

    func run() async {
        for await ending in endings {
            _ = try? await link.request(
                CallMethod.end,
                [
                    "peer": .string(ending.peer), "session": .string(ending.session),
                    "code": .integer(Int64(ending.reason.code.rawValue)), "message": .string(ending.reason.message),
                ], timeout: .seconds(2))
        }
    }
}
