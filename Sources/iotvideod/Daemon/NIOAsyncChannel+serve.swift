import NIOCore
import ServiceLifecycle

extension NIOAsyncChannel where Outbound == Never {
    /// Serves each connection of a listener on a task of its own, until a graceful shutdown. The shutdown does not wait
    /// for connections, because some do not end by themselves.
    ///
    /// The shutdown closes the listener, and does not cancel the accepting: a connection that was accepted must also be
    /// served, or NIO ends the process.
    func serveUntilShutdown(_ serve: @escaping @Sendable (Inbound) async -> Void) async {
        await withGracefulShutdownHandler {
            try? await executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in connections { group.addTask { await serve(connection) } }
                    group.cancelAll()
                }
            }
        } onGracefulShutdown: {
            channel.close(promise: nil)
        }
    }
}
