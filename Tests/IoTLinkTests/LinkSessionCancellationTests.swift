import Dispatch
import Foundation
import IoTCore
import Logging
import Testing

@testable import IoTLink

/// A task's cancellation handlers run under a lock of the task, which waking the task takes too.
@Suite struct LinkSessionCancellationTests {
    /// In a process of its own: where this goes wrong no task runs any more, and one that shares its threads with
    /// hundreds of tests cannot tell that from a busy machine.
    @Test("Readers and requests that are cancelled while they are told something stop nobody")
    func cancelled() async {
        await #expect(processExitsWith: .success) {
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 120)
                fatalError("cancelling a reader of the link and telling it something wait for each other")
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
    }
}
