import Gateway
import Hummingbird
import NIOCore
import Synchronization

/// What Hummingbird carries with a request: the connection it came by, and what is learnt of it on the way.
struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let record = RequestRecord()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The other end's address; `nil` at a Unix socket.
    var remote: String? {
        channel.remoteAddress?.ipAddress
    }
}

/// What the audit log and the metrics tell of a request.
final class RequestRecord: Sendable {
    struct Facts: Sendable {
        var caller: Caller?
        /// The route as the table has it; `nil` for a path that there is not.
        var route: String?
        /// 0, or the error's number.
        var code = 0
        /// The origin that the answer must name (CORS).
        var origin: String?
    }

    private let state = Mutex(Facts())

    var facts: Facts { state.withLock { $0 } }

    func note(_ change: (inout Facts) -> Void) {
        state.withLock { change(&$0) }
    }
}
