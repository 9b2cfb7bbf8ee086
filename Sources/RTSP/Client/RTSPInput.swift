import Foundation
package import IoTCore
package import NIOCore
import NIOPosix

/// Gives a camera's frames to a thread that blocks until they arrive.
///
/// The queue between the event loop and the thread is bounded. When it is full, nothing is read from the sockets until
/// half of it is free.
package final class RTSPInput: Sendable {
    /// The tracks' parameters. The size of the pictures is known only after the first key frame.
    package struct Tracks: Sendable {
        package var video: VideoParameters?
        package var audio: AudioParameters?
        package var unsupported: [String]
    }

    private let session: RTSPClientSession
    private let queue: FrameQueue

    /// - Parameter eventLoop: The loop of the sockets; `nil` chooses one.
    package init(_ configuration: RTSPClientConfiguration, eventLoop: (any EventLoop)?) {
        let queue = FrameQueue()
        self.queue = queue
        let eventLoop = eventLoop ?? MultiThreadedEventLoopGroup.singleton.any()
        session = RTSPClientSession(configuration, eventLoop: eventLoop) { event in queue.take(event) }
        queue.onReading = { [weak session] isReading in session?.setReading(isReading) }
        session.start()
    }

    deinit { session.stop() }

    /// Waits until the tracks are known.
    package func open() throws(IoTError) -> Tracks { try queue.waitForTracks() }

    /// Waits for the next frame.
    package func readFrame() throws(IoTError) -> MediaFrame { try queue.waitForFrame() }

    /// Makes current and later calls fail with `stopping`.
    package func cancel() {
        queue.take(.failed(IoTError(.stopping, "reading the camera was cancelled")))
        session.stop()
    }
}

/// `@unchecked Sendable`: mutable state is guarded by `condition`; `onReading` is set once, before the first event.
private final class FrameQueue: @unchecked Sendable {
    private static let maximumCount = 512
    private static let maximumBytes = 16 << 20

    private let condition = NSCondition()
    private var frames = CircularBuffer<MediaFrame>()
    private var byteCount = 0
    private var tracks: RTSPInput.Tracks?
    private var failure: IoTError?
    private var isReading = true
    var onReading: @Sendable (Bool) -> Void = { _ in }

    func take(_ event: RTSPClientSession.Event) {
        let pauses = condition.withLock {
            switch event {
            case .opened(let video, let audio, let unsupported):
                tracks = RTSPInput.Tracks(video: video, audio: audio, unsupported: unsupported)
            case .frame(let frame):
                frames.append(frame)
                byteCount += frame.bytes.readableBytes
            case .failed(let error): failure = failure ?? error
            }
            condition.signal()
            guard isReading, frames.count >= Self.maximumCount || byteCount >= Self.maximumBytes else { return false }
            isReading = false
            return true
        }
        if pauses { onReading(false) }
    }

    func waitForTracks() throws(IoTError) -> RTSPInput.Tracks {
        let result: Result<RTSPInput.Tracks, IoTError> = condition.withLock {
            while true {
                if let tracks { return .success(tracks) }
                if let failure { return .failure(failure) }
                condition.wait()
            }
        }
        return try result.get()
    }

    func waitForFrame() throws(IoTError) -> MediaFrame {
        var resumes = false
        let result: Result<MediaFrame, IoTError> = condition.withLock {
            while true {
                if let failure, failure.code == .stopping { return .failure(failure) }
                if let frame = frames.popFirst() {
                    byteCount -= frame.bytes.readableBytes
                    if !isReading, frames.count <= Self.maximumCount / 2, byteCount <= Self.maximumBytes / 2 {
                        isReading = true
                        resumes = true
                    }
                    return .success(frame)
                }
                if let failure { return .failure(failure) }
                condition.wait()
            }
        }
        if resumes { onReading(true) }
        return try result.get()
    }
}
