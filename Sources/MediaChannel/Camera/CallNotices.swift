import IoTCore
import IoTLink

/// What a caller is to be told of its call.
struct CallNotice: Sendable {
    let method: String
    let params: JSONValue

    /// The channel ended from the camera's side.
    static func ending(peer: String, session: String, reason: IoTError) -> CallNotice {
        CallNotice(
            method: CallMethod.end,
            params: [
                "peer": .string(peer), "session": .string(session),
                "code": .integer(Int64(reason.code.rawValue)), "message": .string(reason.message),
            ])
    }

    /// - Parameter candidate: one of the camera's, as `candidate:…`; empty text ends them.
    static func candidate(peer: String, peerSession: JSONValue?, session: String, candidate: String) -> CallNotice {
        var params: JSONValue = [
            "peer": .string(peer), "session": .string(session), "candidate": .string(candidate),
        ]
        if let peerSession { params["peerSession"] = peerSession }
        return CallNotice(method: CallMethod.trickle, params: params)
    }
}

/// Tells callers, one after the other. At most 256 wait; then the oldest caller finds out by its own time-out.
struct CallNotices: Sendable {
    private let link: LinkSession
    private let notices: AsyncStream<CallNotice>
    private let continuation: AsyncStream<CallNotice>.Continuation

    init(link: LinkSession) {
        self.link = link
        (notices, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    func add(_ notice: CallNotice) {
        continuation.yield(notice)
    }

    func run() async {
        for await notice in notices {
            _ = try? await link.request(notice.method, notice.params, timeout: .seconds(2))
        }
    }
}
