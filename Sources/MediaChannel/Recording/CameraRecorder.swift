package import IoTCore
import MediaPlayer
import NIOCore
package import RecordingStore
import Synchronization

/// Records a camera: makes segments of its source's frames on a thread of its own. It is not a viewer, and the camera's
/// event loop does not wait for it.
///
/// `@unchecked Sendable`: `recording` and `gate` are used only by the worker's jobs, `minute` only on the camera's event
/// loop.
package final class CameraRecorder: @unchecked Sendable {
    /// The most jobs that wait for the thread: some seconds of pictures and sound.
    private static let limit = 64
    /// Frames go to the thread together, because each wake-up costs more than a frame: those of this time, µs, and at most
    /// this many.
    private static let batchTime: Int64 = 100_000
    private static let batchLimit = 64

    private struct Waiting {
        var frames: [ArrivedFrame] = []
        /// Frames were lost since the last one that was taken.
        var hasGap = false
        /// Frames have come since the last pause, also at times that are not recorded.
        var isDelivering = false
    }

    /// When the camera is recorded.
    private struct Schedule {
        /// The camera's key `recordTimes`.
        let usual: RecordingTimes?
        var plan: RecordPlan?

        /// `nil` for always.
        var times: RecordingTimes? { plan?.times ?? usual }
    }

    private let recording: CameraRecording
    /// `nil` for a camera of which everything is recorded.
    private let limits: EventGate.Limits?
    private var gate: EventGate?
    private let schedule: Mutex<Schedule>
    private let worker = SerialWorker(name: "recorder", limit: CameraRecorder.limit)
    private let clock: @Sendable () -> (now: Moment, isSynchronised: Bool)
    private let write: @Sendable (CameraRecording.Output) -> Void
    private let noteEntry: @Sendable (TimelineEntry) -> Void
    private let onFailure: @Sendable (IoTError) -> Void
    private let storePlan: @Sendable (JSONValue) async throws(IoTError) -> Void
    private let waiting = Mutex(Waiting())
    /// The minute, since 1970, of the last frame, and whether it is recorded.
    private var minute: (number: Int64, isTime: Bool)?

    /// - Parameters:
    ///   - events: if only events are recorded, how much before and after them.
    ///   - times: when it is recorded, unless a plan says it; `nil` for always.
    ///   - plan: the recording plan as it was stored.
    ///   - clock: both of the machine's clocks, and whether the wall clock is synchronised.
    ///   - write: takes what is to be written, in order, and must not block.
    ///   - note: stores what happened at the camera, and must not block.
    ///   - onFailure: called when the sound, or everything, is not recorded; once for each reason.
    ///   - storePlan: stores another plan, so that the next start follows it before the camera's hub has been reached.
    package init(
        _ recording: sending CameraRecording, events: EventGate.Limits? = nil, times: RecordingTimes? = nil,
        plan: RecordPlan? = nil,
        clock: @escaping @Sendable () -> (now: Moment, isSynchronised: Bool) = {
            (Moment.now(), ClockState.isSynchronised())
        },
        write: @escaping @Sendable (CameraRecording.Output) -> Void,
        note: @escaping @Sendable (TimelineEntry) -> Void = { _ in },
        onFailure: @escaping @Sendable (IoTError) -> Void,
        storePlan: @escaping @Sendable (JSONValue) async throws(IoTError) -> Void = { _ in }
    ) {
        self.recording = recording
        limits = events
        schedule = Mutex(Schedule(usual: times, plan: plan))
        self.storePlan = storePlan
        self.clock = clock
        self.write = write
        noteEntry = note
        self.onFailure = onFailure
    }

    /// On the camera's event loop.
    ///
    /// - Parameter isOn: whether the camera is on; frames of a camera that is off are not recorded.
    func take(_ event: CameraSourceEvent, isOn: Bool) {
        switch event {
        case .connecting: break
        case .opened(let video, let audio):
            hand()
            submit(beyondLimit: true) { [self] recording in
                let wasOpen = gate?.isOpen == true
                gate = limits.map { EventGate($0, hasPictures: video != nil) }
                // The source was lost during an event, and is back.
                if wasOpen { _ = gate?.open(until: clock().now.monotonic) }
                return recording.opened(video: video, audio: audio)
            }
        case .frame(let frame):
            guard isOn else { return }
            let (now, isSynchronised) = clock()
            let isTime = isTime(now.wall)
            let arrived = ArrivedFrame(frame, now: now, isSynchronised: isSynchronised)
            let isBatch = waiting.withLock { waiting in
                waiting.isDelivering = true
                guard isTime else { return false }
                waiting.frames.append(arrived)
                let first = waiting.frames[0].now.monotonic
                return waiting.frames.count >= Self.batchLimit || now.monotonic - first >= Self.batchTime
            }
            if isBatch { hand() }
        case .failed: pause()
        }
    }

    /// Hands the waiting frames to the thread.
    private func hand() {
        waiting.withLock { waiting in
            guard !waiting.frames.isEmpty else { return }
            let isTaken = submit { [self, frames = waiting.frames, hasGap = waiting.hasGap] recording in
                // The pictures after a gap cannot be decoded before the next key frame.
                if hasGap { gate?.clear() }
                return (hasGap ? recording.end() : []) + frames.flatMap { pass($0, to: recording) }
            }
            waiting = Waiting(hasGap: !isTaken, isDelivering: waiting.isDelivering)
        }
    }

    /// Something happened at the camera, which playback tells again.
    ///
    /// - Parameter name: the path of a property or an action, or the topic of an event.
    func note(_ name: String, _ value: JSONValue, kind: TimelineEntry.Kind) {
        noteEntry(TimelineEntry(time: clock().now.wall, kind: kind, name: name, value: value))
    }

    // MARK: Times

    /// Stores a recording plan. The recorder follows it after `follow`.
    ///
    /// - Throws: `storeFailed`.
    func store(_ plan: JSONValue) async throws(IoTError) { try await storePlan(plan) }

    /// Follows another recording plan from now on. On the camera's event loop.
    func follow(_ plan: RecordPlan) {
        schedule.withLock { $0.plan = plan }
        minute = nil
        if !isTime(at: clock().now.wall) { pause() }
    }

    /// Whether the camera's recording plan says when it is recorded.
    package var followsPlan: Bool { schedule.withLock { $0.plan?.times != nil } }

    /// Whether the camera is recorded at a time, µs since 1970.
    package func isTime(at wall: Int64) -> Bool { schedule.withLock { $0.times }?.contain(wall) ?? true }

    /// Ends the segment when the times end.
    private func isTime(_ wall: Int64) -> Bool {
        let number = wall / 60_000_000
        if let minute, minute.number == number { return minute.isTime }
        let (wasTime, isTime) = (minute?.isTime == true, isTime(at: wall))
        minute = (number, isTime)
        if wasTime, !isTime { pause() }
        return isTime
    }

    // MARK: Events

    private func pass(_ arrived: ArrivedFrame, to recording: CameraRecording) -> [CameraRecording.Output] {
        guard let passed = gate?.take(arrived) else { return recording.take(arrived) }
        return (passed.ends ? recording.end() : []) + passed.frames.flatMap { recording.take($0) }
    }

    /// Something was noticed: records what came shortly before, and all until it has ended.
    ///
    /// - Returns: whether it is recorded; `false` while the source delivers nothing, although it is recorded from when the
    ///   source is back.
    func begin(_ type: DetectionType, for duration: Duration) -> Bool {
        let now = clock().now
        guard isTime(at: now.wall) else { return false }
        let isDelivering = waiting.withLock { $0.isDelivering }
        guard limits != nil else { return isDelivering }
        let end = now.monotonic + TimeAmount(duration).nanoseconds / 1_000
        return submit(beyondLimit: true) { [self] recording in
            guard gate?.isOpen == false else { return open(until: end, recording) }
            recording.reason = type == .motion ? .motion : .event
            return open(until: end, recording)
        } && isDelivering
    }

    private func open(until end: Int64, _ recording: CameraRecording) -> [CameraRecording.Output] {
        (gate?.open(until: end) ?? []).flatMap { recording.take($0) }
    }

    /// The camera's pictures are turned in another way from now on: the next key frame begins a segment.
    func turn(_ rotation: PictureRotation) {
        hand()
        submit(beyondLimit: true) { recording in
            recording.rotation = rotation
            return []
        }
    }

    /// The source was lost, or the camera was switched off: ends the segment.
    func pause() {
        hand()
        waiting.withLock { $0.isDelivering = false }
        submit(beyondLimit: true) { [self] recording in
            gate?.clear()
            return recording.end()
        }
    }

    /// Ends the segment, and then the thread. Returns when everything was handed over to the disk.
    package func close() async {
        pause()
        await withCheckedContinuation { continuation in
            let isTaken = worker.submit(beyondLimit: true) { continuation.resume() }
            if !isTaken { continuation.resume() }
        }
        worker.stop()
    }

    @discardableResult
    private func submit(
        beyondLimit: Bool = false, _ body: @escaping @Sendable (CameraRecording) -> [CameraRecording.Output]
    ) -> Bool {
        worker.submit(beyondLimit: beyondLimit) { [self] in
            let before = recording.failure
            for output in body(recording) { write(output) }
            if let failure = recording.failure, failure.code != before?.code { onFailure(failure) }
        }
    }
}

extension CameraRecording {
    fileprivate func take(_ arrived: ArrivedFrame) -> [Output] {
        take(arrived.frame, now: arrived.now, isSynchronised: arrived.isSynchronised)
    }
}
