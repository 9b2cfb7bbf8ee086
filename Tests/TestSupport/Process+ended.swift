public import Foundation

extension Process {
    /// Waits for the program's end, on a thread of its own, and returns its exit status.
    public func ended() async -> Int32 {
        // A process that was started is only waited for.
        nonisolated(unsafe) let process = self
        return await withCheckedContinuation { continuation in
            let thread = Thread {
                process.waitUntilExit()
                continuation.resume(returning: process.terminationStatus)
            }
            thread.start()
        }
    }
}
