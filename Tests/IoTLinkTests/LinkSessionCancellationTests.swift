import Dispatch
import Foundation
import IoTCore
import Logging
import Testing

@testable import IoTLink

/// A task's cancellation handlers run under a lock of the task, which waking the task takes too.
@Suite struct LinkSessionCancellationTests {
    @Test("Readers and requests that are cancelled while they are told something stop nobody")
    func cancelled() async throws {
        let configuration = LinkConfiguration(
            principal: .user(AccessID(rawValue: "owner")!), token: .value(""), endpoint: .unixSocket(path: "/none"))
        let session = LinkSession(
            configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let done = DispatchSemaphore(value: 0)
        // Where this goes wrong no task runs any more, the test's own among them.
        Thread.detachNewThread {
            guard done.wait(timeout: .now() + 300) == .timedOut else { return }
            fatalError("cancelling a reader of the link and telling it something wait for each other")
        }
        let isOver = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // Each gives every reader another status, and fails every request.
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
        done.signal()
    }
}
