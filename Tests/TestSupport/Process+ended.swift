public import Foundation

extension Process {
    /// Waits for the program's end, on a thread of its own, and returns its exit status.
    public func ended() async -> Int32 {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                self.waitUntilExit()
                continuation.resume(returning: self.terminationStatus)
            }
            thread.start()
        }
    }
}
