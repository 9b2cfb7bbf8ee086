import Gateway
import ServiceLifecycle

/// The gateway and its HTTP door, which begin and stop together: the gateway ends the bodies and event streams that
/// the server would wait for, and goes on until the server has ended.
struct ServedGateway: Service {
    let gateway: any GatewayService
    let server: APIServer

    private enum End {
        /// The server took its last request, or the gateway closed what was open.
        case part
        /// The link's, or the limit's.
        case whole
    }

    func run() async throws {
        let stopTimeout = server.limits.stopTimeout
        try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask {
                try await server.run()
                return .part
            }
            group.addTask {
                try await gracefulShutdown()
                await gateway.prepareToStop()
                return .part
            }
            group.addTask {
                await gateway.run()
                // It ends before the server does when the link has been told to stop.
                try await gracefulShutdown()
                try await Task.sleep(for: stopTimeout)
                return .whole
            }
            group.addTask {
                try await gracefulShutdown()
                try await Task.sleep(for: stopTimeout)
                return .whole
            }
            var left = 2
            while left > 0, let end = try await group.next() { left = end == .whole ? 0 : left - 1 }
            group.cancelAll()
        }
    }
}
