import Foundation
import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore
import Synchronization

/// Events of a camera's source.
enum CameraSourceEvent: Sendable {
    case connecting
    case opened(video: VideoParameters?, audio: AudioParameters?)
    case frame(MediaFrame)
    /// The source failed or could not be reached; it is tried again after the pause.
    case failed(IoTError, retryAfter: Duration)
}

/// Reads a camera's source on its own thread: a file at the pace of its clock, repeatedly; a live source as it comes. A
/// live source that fails is dialled again, also if the first dial fails.
///
/// `@unchecked Sendable`: mutable state is guarded by `condition` or used only by the thread, and by the event loop while the
/// thread waits for it.
final class CameraSource: @unchecked Sendable {
    /// How often the file is checked, so that a removed or replaced file is not played for longer.
    private static let fileInterval = TimeAmount.seconds(1)

    private let settings: CameraSettings
    private let eventLoop: (any EventLoop)?
    private let onEvent: @Sendable (CameraSourceEvent) -> Void
    private let condition = NSCondition()
    private var isStopping = false
    private var hasEnded = false
    private var onEnd: (@Sendable () -> Void)?
    private let cancellation = DemuxerCancellation()
    private var timeline = LoopTimeline()
    private var retry = SourceRetry()
    private var needsLibAV = false
    private let dropped = Atomic<Int>(0)
    /// When a source that still sends is healthy; `nil` once it is.
    private var healthyAt: NIODeadline?

    /// - Parameters:
    ///   - eventLoop: The loop of an RTSP camera's sockets, on which `onEvent` gets its frames; `nil` chooses one, and all
    ///     events are on the source's thread.
    ///   - onEvent: Nothing is read while it blocks. On an event loop it may not block.
    init(
        _ settings: CameraSettings, eventLoop: (any EventLoop)?,
        onEvent: @escaping @Sendable (CameraSourceEvent) -> Void
    ) {
        self.settings = settings
        self.eventLoop = eventLoop
        self.onEvent = onEvent
    }

    func start() {
        let thread = Thread { [self] in
            ThreadName.set("source-\(settings.name)")
            run()
            let onEnd = condition.withLock {
                hasEnded = true
                return self.onEnd
            }
            onEnd?()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// The number of pictures that the source's readers dropped since the start.
    var droppedPictures: Int { dropped.load(ordering: .relaxed) }

    /// Ends the thread soon; a blocking network call is interrupted.
    func stop() {
        condition.withLock {
            isStopping = true
            condition.signal()
        }
        cancellation.cancel()
    }

    /// Calls `body` after the thread has closed the source; at once if it already has.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = condition.withLock {
            onEnd = body
            return self.hasEnded
        }
        if hasEnded { body() }
    }

    private func run() {
        while !stopping {
            onEvent(.connecting)
            do throws(IoTError) {
                try readSource()
            } catch {
                guard !stopping else { return }
                timeline.beginRound(frameInterval: 0)
                let pause = retry.pause(after: error) { Int64.random(in: $0) }
                onEvent(.failed(error, retryAfter: .milliseconds(pause)))
                wait(until: .now() + .milliseconds(pause))
            }
        }
    }

    private var stopping: Bool {
        condition.withLock { isStopping }
    }

    private func readSource() throws(IoTError) {
        let reader = try settings.open(eventLoop: eventLoop, needsLibAV: &needsLibAV, cancellation)
        retry.opened()
        onEvent(.opened(video: reader.video, audio: reader.audio))
        var pacer = SourcePacer()
        let opened = NIODeadline.now()
        healthyAt = opened + SourceRetry.healthySpan
        if eventLoop != nil, let camera = reader as? RTSPCameraReader, camera.canDeliver {
            while let frame = camera.nextSearched() { pass(frame) }
            try camera.deliver { [self] frame in pass(frame) }
        }
        let isLive = settings.isLive
        var isFirst = true
        let droppedBefore = droppedPictures
        defer { dropped.store(droppedBefore + reader.droppedPictures, ordering: .relaxed) }
        let file = isLive ? nil : FileIdentity(path: settings.filePath)
        var nextLook = opened + Self.fileInterval
        while !stopping {
            if !isLive, NIODeadline.now() >= nextLook {
                nextLook = .now() + Self.fileInterval
                guard file == FileIdentity(path: settings.filePath) else {
                    timeline.beginRound(frameInterval: frameInterval(reader.video))
                    return
                }
            }
            guard let read = try reader.readFrame() else {
                if isLive {
                    throw IoTError(.sourceUnreachable, "the source ended its stream")
                }
                guard !isFirst else { throw IoTError(.sourceUnsupported, "the file contains no frame") }
                timeline.beginRound(frameInterval: frameInterval(reader.video))
                guard file == FileIdentity(path: settings.filePath) else { return }
                try reader.rewind()
                continue
            }
            isFirst = false
            dropped.store(droppedBefore + reader.droppedPictures, ordering: .relaxed)
            if isLive {
                pass(read)
            } else {
                let frame = timeline.place(read)
                wait(until: pacer.due(dts: frame.dts - timeline.gaps, now: .now()))
                onEvent(.frame(frame))
                noteHealth()
            }
        }
    }

    /// Passes on a frame of a live source.
    private func pass(_ read: MediaFrame) {
        var frame = timeline.place(read)
        if read.isDiscontinuity { frame.isDiscontinuity = true }
        onEvent(.frame(frame))
        noteHealth()
    }

    private func noteHealth() {
        guard let time = healthyAt, NIODeadline.now() > time else { return }
        healthyAt = nil
        retry.isHealthy()
    }

    private func frameInterval(_ video: VideoParameters?) -> Int64 {
        guard let rate = video?.frameRate, rate > 0 else { return 40_000 }
        return Int64(1_000_000 / rate)
    }

    private func wait(until time: NIODeadline) {
        condition.withLock {
            while !isStopping {
                let rest = time - .now()
                guard rest > .zero else { return }
                _ = condition.wait(until: Date(timeIntervalSinceNow: Double(rest.nanoseconds) / 1_000_000_000))
            }
        }
    }
}
