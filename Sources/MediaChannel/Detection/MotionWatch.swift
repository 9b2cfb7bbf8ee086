import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore

/// Looks for motion in a camera's pictures, on a thread of its own. Of a camera with frequent key frames only these are
/// decoded, otherwise everything, which costs much more.
///
/// `@unchecked Sendable`: `work` is used only by the worker's jobs, `selection` and `isWaiting` only on the camera's event
/// loop.
final class MotionWatch: @unchecked Sendable {
    /// The most frames that wait for the thread.
    private static let limit = 24

    private let worker = SerialWorker(name: "motion", limit: MotionWatch.limit)
    private var work: Work
    private var selection = MotionSelection()
    /// Frames were lost: the next ones cannot be decoded before a key frame.
    private var isWaiting = false
    private let onEvent: @Sendable (DetectionPhase) -> Void
    /// When a frame arrives, µs: the camera's own clock may jump.
    private let clock: @Sendable () -> Int64

    private struct Work {
        let makeDetector: @Sendable () -> MotionDetector?
        var detector: MotionDetector?
        var decoder: VideoDecoder?
        var events = MotionEvents()
        var lastLook = Int64.min
    }

    /// - Parameters:
    ///   - clock: the monotonic clock, µs.
    ///   - onEvent: called on the worker's thread, and must not block.
    /// - Returns: `nil` if the camera's settings do not ask for it.
    init?(
        _ settings: CameraSettings,
        clock: @escaping @Sendable () -> Int64 = { Int64(NIODeadline.now().uptimeNanoseconds / 1_000) },
        onEvent: @escaping @Sendable (DetectionPhase) -> Void
    ) {
        guard settings.motion != .off else { return nil }
        let (sensitivity, areas) = (settings.motion, settings.ignoredAreas)
        work = Work { MotionDetector(sensitivity, ignoring: areas) }
        self.clock = clock
        self.onEvent = onEvent
    }

    deinit {
        worker.stop()
    }

    /// On the camera's event loop.
    func take(_ event: CameraSourceEvent, isOn: Bool) {
        switch event {
        case .connecting: break
        case .opened(let video, _):
            selection = MotionSelection()
            isWaiting = true
            worker.submit(beyondLimit: true) { [self] in reset(video) }
        case .frame(let frame):
            guard frame.kind == .video else { return }
            guard isOn else { return isWaiting = true }
            let now = clock()
            let choice = selection.take(isKeyFrame: frame.isKeyFrame, at: now)
            guard choice != .skip, !isWaiting || frame.isKeyFrame else { return }
            let restarts = isWaiting || choice == .alone
            isWaiting = !worker.submit { [self] in look(at: frame, now, restarts: restarts, isAlone: choice == .alone) }
        case .failed: pause()
        }
    }

    /// The source was lost, or the camera was switched off.
    func pause() {
        isWaiting = true
        worker.submit(beyondLimit: true) { [self] in report(work.events.end()) }
    }

    /// Returns when nothing waits for the thread. For tests, whose source is faster than a camera.
    func caughtUp() async {
        await withCheckedContinuation { continuation in
            let isTaken = worker.submit(beyondLimit: true) { continuation.resume() }
            if !isTaken { continuation.resume() }
        }
    }

    // MARK: On the thread

    private func reset(_ video: VideoParameters?) {
        report(work.events.end())
        work.detector = work.makeDetector()
        work.lastLook = .min
        // Without a decoder nothing is found; the camera's other parts report what it cannot decode.
        work.decoder = video.flatMap { try? VideoDecoder($0) }
    }

    private func look(at frame: MediaFrame, _ now: Int64, restarts: Bool, isAlone: Bool) {
        guard let decoder = work.decoder else { return }
        if restarts { decoder.reset() }
        guard var pictures = try? decoder.decode(frame) else { return }
        if isAlone { pictures += decoder.flush() }
        guard let picture = pictures.last(where: { !$0.isCorrupt }),
            work.lastLook == .min || now - work.lastLook >= MotionSelection.interval
        else { return }
        work.lastLook = now
        guard let cells = try? picture.lumaGrid(columns: MotionDetector.columns, rows: MotionDetector.rows),
            let finding = work.detector?.look(at: cells, time: now)
        else { return }
        let hasMotion = if case .motion = finding { true } else { false }
        report(work.events.take(hasMotion: hasMotion, at: now))
    }

    private func report(_ events: [DetectionPhase]) {
        for event in events { onEvent(event) }
    }
}
