import Gateway
import ServiceLifecycle

/// Starts and stops the gateway and its HTTP server together. At a stop the gateway ends the bodies and event streams
/// that the server would wait for, and runs until the server has ended.
struct ServedGateway: Service {
    let gateway: any GatewayService
    let server: APIServer

    private enum End {
        /// The server has handled its last request, or the gateway has closed what was open.
        case part
        /// The link has ended, or the time limit has passed.
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
                // The gateway ends before the server does if the link has been stopped.
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
