package import IoTCore
import NIOPosix

/// The threads that read the index and the recording disk. Both block, and a broken disk can block for a long time.
package final class RecordingThreads: Sendable {
    private let pool: NIOThreadPool

    package init(count: Int = 4) {
        pool = NIOThreadPool(numberOfThreads: count)
        pool.start()
    }

    /// Runs work that blocks. What waits is bounded by the requests in progress (`SharedResource.requests`).
    ///
    /// - Throws: what `work` throws; `stopping` after `close`.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(IoTError) -> Value
    ) async throws(IoTError) -> Value {
        do {
            return try await pool.runIfActive(work)
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.stopping, underlying: error)
        }
    }

    package func close() async {
        try? await pool.shutdownGracefully()
    }
}
