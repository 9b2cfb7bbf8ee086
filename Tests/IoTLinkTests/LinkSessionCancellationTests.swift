import Dispatch
import Foundation
import IoTCore
import Logging
import Testing

@testable import IoTLink

/// A task's cancellation handlers run under a lock of the task. Resuming the task takes the same lock.
@Suite struct LinkSessionCancellationTests {
    /// Runs in a separate process: a deadlock stops every task. In a process with hundreds of tests, it could not be
    /// distinguished from a busy machine.
    @Test("Cancelling readers and requests while they are resumed does not deadlock")
    func cancelled() async {
        await #expect(processExitsWith: .success) {
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 120)
                fatalError("deadlock between cancelling and resuming a reader of the link")
            }
            await Self.cancelReadersAndRequests()
        }
    }

    private static func cancelReadersAndRequests() async {
        let configuration = LinkConfiguration(
            principal: .user(AccessID(rawValue: "owner")!), token: .value(""), endpoint: .unixSocket(path: "/none"))
        let session = LinkSession(
            configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let isOver = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // Each call changes the status for every reader, and fails every request.
            while isOver.wait(timeout: .now()) == .timedOut {
                session.register()
                session.unregister()
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    for _ in 0..<500 {
                        let task = Task {
                            if number < 2 {
                                for await _ in session.statusChanges() {}
                            } else {
                                _ = try? await session.request("test.ask")
                            }
                        }
                        await Task.yield()
                        task.cancel()
                        await task.value
                    }
                }
            }
        }
        isOver.signal()
    }
}
