import Dispatch
import Foundation
import IoTCore
import Logging
import Synchronization
import Testing

@testable import IoTLink

/// A task's cancellation handlers run under a lock of the task, which waking the task takes too.
@Suite struct LinkSessionCancellationTests {
    private final class Progress: Sendable {
        let count = Atomic(0)
    }

    @Test("Readers and requests that are cancelled while they are told something stop nobody")
    func cancelled() async throws {
        let configuration = LinkConfiguration(
            principal: .user(AccessID(rawValue: "owner")!), token: .value(""), endpoint: .unixSocket(path: "/none"))
        let session = LinkSession(
            configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let done = DispatchSemaphore(value: 0)
        let progress = Progress()
        // Where this goes wrong no task runs any more, the test's own among them. A busy machine is only slow.
        Thread.detachNewThread {
            var last = -1
            while done.wait(timeout: .now() + 120) == .timedOut {
                let count = progress.count.load(ordering: .relaxed)
                if count == last {
                    fatalError("cancelling a reader of the link and telling it something wait for each other")
                }
                last = count
            }
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
                        progress.count.wrappingAdd(1, ordering: .relaxed)
                    }
                }
            }
        }
        isOver.signal()
        done.signal()
    }
}
