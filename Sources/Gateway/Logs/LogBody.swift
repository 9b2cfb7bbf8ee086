import GatewayAPI
import IoTCore
import NIOCore
import Synchronization

/// The log as server-sent events.
final class LogBody: Sendable {
    /// How often the caller's right is checked while no line comes.
    private static var checkInterval: Duration { .seconds(1) }
    /// The longest time without a byte, so that both sides notice a dead connection.
    private static var heartbeat: Int { 15 }

    private let reader: Mutex<LogReader>
    private let follows: Bool
    private let lease: Lease

    init(_ ring: LogRing, _ query: LogQuery, lease: Lease) {
        reader = Mutex(LogReader(ring, query))
        follows = query.follows
        self.lease = lease
    }

    func body(_ part: QuotaPart) -> MediaBody {
        EventBody { try await self.next() }.body(part)
    }

    private func next() async throws -> EventBody.Step {
        do {
            for _ in 0..<Self.heartbeat {
                try lease.check()
                if let entry = reader.withLock({ $0.next() }) { return .event(try entry.serverSentEvent) }
                guard follows else { return .last(try LogEntry.end.serverSentEvent) }
                await wait()
                try Task.checkCancellation()
            }
            return .heartbeat
        } catch let error as IoTError {
            return .last(try LogEntry.failed(APIError(error)).serverSentEvent)
        }
    }

    /// Waits for a line, at most for `checkInterval`.
    private func wait() async {
        let reader = reader.withLock { $0 }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reader.wait() }
            group.addTask { try? await Task.sleep(for: Self.checkInterval) }
            await group.next()
            group.cancelAll()
        }
    }
}
