import Gateway
import Hummingbird
import NIOCore
import Synchronization

/// The context of a request: its connection, and facts that the middleware learns about it.
struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let record = RequestRecord()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The address of the other end; `nil` for a Unix socket.
    var remote: String? {
        channel.remoteAddress?.ipAddress
    }
}

/// Facts about a request for the audit log and the metrics.
final class RequestRecord: Sendable {
    struct Facts: Sendable {
        var caller: Caller?
        /// The route as in the table; `nil` if no route has the path.
        var route: String?
        /// 0, or the error's number.
        var code = 0
        /// The origin for the CORS fields of the response.
        var origin: String?
    }

    private let state = Mutex(Facts())

    var facts: Facts { state.withLock { $0 } }

    func note(_ change: (inout Facts) -> Void) {
        state.withLock { change(&$0) }
    }
}
