import Foundation
import IoTCore
import NIOCore

/// The bounded queue of an `RTSPInput`. When it is full, `wantsFrames` is false until half of it is free.
///
/// `@unchecked Sendable`: mutable state is guarded by `condition`; `onChange` is set once, before the first event; `receiver`
/// is used only on the event loop.
final class FrameQueue: @unchecked Sendable {
    static let maximumCount = 512
    private static let maximumBytes = 16 << 20

    private let condition = NSCondition()
    private var frames = CircularBuffer<MediaFrame>()
    private var byteCount = 0
    private var tracks: RTSPInput.Tracks?
    private var failure: IoTError?
    private var isReading = true
    /// Called when `wantsFrames` has changed. It has no argument: calls of two threads can be in any order, so the callee
    /// reads `wantsFrames`.
    var onChange: @Sendable () -> Void = {}

    /// Gets the frames in place of the queue. Only set and called on the event loop.
    private var receiver: ((MediaFrame) -> Void)?

    var wantsFrames: Bool { condition.withLock { isReading } }

    /// Frames come on the event loop, as all events but `failed`.
    func take(_ event: RTSPClientSession.Event) {
        if case .frame(let frame) = event, let receiver {
            if condition.withLock({ failure == nil }) { receiver(frame) }
            return
        }
        let pauses = condition.withLock {
            switch event {
            case .opened(let video, let audio, let unsupported):
                tracks = RTSPInput.Tracks(video: video, audio: audio, unsupported: unsupported)
            case .frame(let frame):
                frames.append(frame)
                byteCount += frame.bytes.readableBytes
            case .backChannelOpened: break
            case .failed(let error): failure = failure ?? error
            }
            condition.signal()
            guard isReading, frames.count >= Self.maximumCount || byteCount >= Self.maximumBytes else { return false }
            isReading = false
            return true
        }
        if pauses { onChange() }
    }

    /// Passes the frames that wait, and all that come from now on, to `receiver`. On the event loop.
    func deliver(to receiver: @escaping (MediaFrame) -> Void) {
        self.receiver = receiver
        let (waiting, resumes) = condition.withLock {
            defer { (frames, byteCount, isReading) = ([], 0, true) }
            return (frames, !isReading)
        }
        for frame in waiting where condition.withLock({ failure == nil }) { receiver(frame) }
        if resumes { onChange() }
    }

    func waitForFailure() -> IoTError {
        condition.withLock {
            while true {
                if let failure { return failure }
                condition.wait()
            }
        }
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
        if resumes { onChange() }
        return try result.get()
    }
}
