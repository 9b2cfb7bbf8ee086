package import IoTCore
import MediaPlayer
import NIOCore
import Synchronization

/// Reads recordings for callers, on a thread for all cameras of a disk, so that no event loop waits for the disk.
package final class RecordedReader: Sendable {
    /// The most requests that wait. More are refused with 20100.
    private static let limit = 64
    private let worker: SerialWorker

    /// - Parameter name: of the thread.
    package init(name: String = "playback") {
        worker = SerialWorker(name: name, limit: Self.limit)
    }

    /// Runs a job on the thread.
    func perform<Value: Sendable>(
        on eventLoop: any EventLoop, _ job: @escaping @Sendable () throws(IoTError) -> Value
    ) -> EventLoopFuture<Value> {
        let promise = eventLoop.makePromise(of: Value.self)
        let isTaken = worker.submit {
            do throws(IoTError) {
                promise.succeed(try job())
            } catch {
                promise.fail(error)
            }
        }
        if !isTaken { promise.fail(IoTError(.deviceBusy, "too many reads wait for the recordings")) }
        return promise.futureResult
    }

    /// Closes a file on the thread.
    func release(_ value: some Sendable) {
        worker.submit(beyondLimit: true) { withExtendedLifetime(value) {} }
    }

    /// Ends the thread after the waiting jobs.
    package func stop() { worker.stop() }
}

/// The recordings of one camera, for its callers.
package struct CameraRecordings: Sendable {
    let reader: RecordedReader
    /// For files, exports and pictures, which may take long: playback does not wait for them.
    let files: RecordedReader
    /// Called on the readers' threads.
    let open: @Sendable () throws(IoTError) -> any RecordedSource

    /// The number of the device's owner; `nil` until the hub has said it.
    let ownership: @Sendable () -> Int64?

    package init(
        reader: RecordedReader, files: RecordedReader, ownership: @escaping @Sendable () -> Int64? = { nil },
        open: @escaping @Sendable () throws(IoTError) -> any RecordedSource
    ) {
        self.reader = reader
        self.files = files
        self.ownership = ownership
        self.open = open
    }
}

/// One caller's view of the recordings: opened when it is first needed, and again after the disk was lost.
final class CallRecordings: Sendable {
    private let recordings: CameraRecordings
    private let reader: RecordedReader
    private let source = Mutex<(any RecordedSource)?>(nil)

    init(_ recordings: CameraRecordings, on reader: RecordedReader) {
        self.recordings = recordings
        self.reader = reader
    }

    func perform<Value: Sendable>(
        on eventLoop: any EventLoop,
        _ job: @escaping @Sendable (any RecordedSource) throws(IoTError) -> Value
    ) -> EventLoopFuture<Value> {
        reader.perform(on: eventLoop) { [self] () throws(IoTError) in
            let opened: any RecordedSource
            if let known = source.withLock({ $0 }) { opened = known } else { opened = try recordings.open() }
            source.withLock { $0 = opened }
            do throws(IoTError) {
                return try job(opened)
            } catch {
                if error.code == .recorderUnavailable { source.withLock { $0 = nil } }
                throw error
            }
        }
    }

    /// Releases a value on the reader's thread.
    func release(_ value: some Sendable) { reader.release(value) }

    func close() {
        let opened = source.withLock { source in
            defer { source = nil }
            return source
        }
        if let opened { reader.release(opened) }
    }
}
