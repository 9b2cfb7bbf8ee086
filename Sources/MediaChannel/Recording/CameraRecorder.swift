package import IoTCore
import NIOCore
package import RecordingStore
import Synchronization

/// Records a camera: makes segments of its source's frames, on the camera's event loop. Only whole fragments, about one a
/// second, go to the disk's thread. It is not a viewer.
///
/// Frames wait until one comes that may complete a fragment, because to process one alone takes several times as long.
///
/// `@unchecked Sendable`: what is neither constant nor guarded by a mutex is used only on the camera's event loop.
package final class CameraRecorder: @unchecked Sendable {
    /// A fragment is not complete before, µs; less than a second because pictures may be reordered.
    private static let untilDue: Int64 = 750_000
    /// The most that waits: as long, and as many bytes, as a fragment has.
    private static let mostTime: Int64 = 1_000_000
    private static let mostBytes = 4 << 20

    /// When the camera is recorded.
    private struct Schedule {
        /// The camera's key `recordTimes`.
        let usual: RecordingTimes?
        var plan: RecordPlan?

        /// `nil` for always.
        var times: RecordingTimes? { plan?.times ?? usual }
    }

    // What each frame needs comes first: it is in one or two cache lines then, and each costs as much as the rest.
    private var isClosed = false
    /// Frames have come since the last pause, also at times that are not recorded.
    private var isDelivering = false
    private var hasPictures = true
    private let hasNewOwner = Atomic(false)
    /// Held while the frames that were kept for an event are handed over: they come before a change of owner, or not at all.
    private let beginning = Mutex(())
    private var waiting: [ArrivedFrame] = []
    private var waitingBytes = 0
    /// When the oldest of them came, on the monotonic clock.
    private var waitingSince: Int64 = 0
    /// From this `pts` on, a picture may complete a fragment, µs.
    private var due = Int64.min
    /// The minute, since 1970, of the last frame, and whether it is recorded.
    private var minute: (number: Int64, isTime: Bool)?
    private let clock: @Sendable () -> (now: Moment, isSynchronised: Bool)
    /// Keeps the memory of the frames that waited before.
    private var processed: [ArrivedFrame] = []

    private let recording: CameraRecording
    /// `nil` for a camera of which everything is recorded.
    private let limits: EventGate.Limits?
    private var gate: EventGate?
    private let schedule: Mutex<Schedule>
    private let write: @Sendable (CameraRecording.Output) -> Void
    private let noteEntry: @Sendable (TimelineEntry) -> Void
    private let onFailure: @Sendable (IoTError) -> Void
    private let storePlan: @Sendable (JSONValue) async throws(IoTError) -> Void

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
        clock: @escaping @Sendable () -> (now: Moment, isSynchronised: Bool) = ClockState.now,
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
        guard !isClosed else { return }
        switch event {
        case .connecting: break
        case .opened(let video, let audio):
            processWaiting()
            hasPictures = video != nil
            let wasOpen = gate?.isOpen == true
            gate = limits.map { EventGate($0, hasPictures: video != nil) }
            // The source was lost during an event, and is back.
            if wasOpen { _ = gate?.open(until: clock().now.monotonic) }
            record { $0.opened(video: video, audio: audio) }
        case .frame(let frame):
            guard isOn else { return }
            followOwner()
            let (now, isSynchronised) = clock()
            isDelivering = true
            guard isTime(now.wall) else { return }
            // Not read from the frames: that is one more cache line.
            if waitingBytes == 0 { waitingSince = now.monotonic }
            waiting.append(ArrivedFrame(frame, now: now, isSynchronised: isSynchronised))
            waitingBytes += frame.bytes.readableBytes
            if mayComplete(frame, at: now.monotonic) { processWaiting() }
        case .failed: pause()
        }
    }

    /// Whether a fragment may be complete when this frame has come.
    private func mayComplete(_ frame: MediaFrame, at now: Int64) -> Bool {
        if waitingBytes >= Self.mostBytes || now - waitingSince >= Self.mostTime { return true }
        guard hasPictures else { return frame.pts >= due }
        return frame.kind == .video && (frame.isKeyFrame || frame.pts >= due)
    }

    private func processWaiting() {
        followOwner()
        guard let newest = waiting.last?.frame.pts else { return }
        swap(&waiting, &processed)
        waitingBytes = 0
        let written = record { pass(processed, to: $0) }
        processed.removeAll(keepingCapacity: true)
        // While an event is waited for, no fragment is made.
        if written || gate?.isOpen == false { due = newest + Self.untilDue }
    }

    /// The camera has another owner: frames that wait, for an event or to be written, are forgotten, and the next key frame
    /// begins a segment. On any thread.
    package func changeOwner() { beginning.withLock { _ in hasNewOwner.store(true, ordering: .releasing) } }

    private func followOwner() {
        guard hasNewOwner.load(ordering: .acquiring) else { return }
        hasNewOwner.store(false, ordering: .relaxed)
        waiting.removeAll(keepingCapacity: true)
        waitingBytes = 0
        gate?.clear()
        record { $0.forget() }
    }

    /// Something happened at the camera, which playback tells again. On any thread.
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

    /// Whether the camera's recording plan says when it is recorded. On any thread.
    package var followsPlan: Bool { schedule.withLock { $0.plan?.times != nil } }

    /// Whether the camera is recorded at a time, µs since 1970. On any thread.
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

    private func pass(_ frames: [ArrivedFrame], to recording: CameraRecording) -> [CameraRecording.Output] {
        if gate == nil { return recording.take(frames) }
        return frames.flatMap { arrived -> [CameraRecording.Output] in
            guard let passed = gate?.take(arrived) else { return [] }
            return (passed.ends ? recording.end() : []) + recording.take(passed.frames)
        }
    }

    /// Something was noticed: records what came shortly before, and all until it has ended. On the camera's event loop.
    ///
    /// - Returns: whether it is recorded; `false` while the source delivers nothing, although it is recorded from when the
    ///   source is back.
    func begin(_ type: DetectionType, for duration: Duration) -> Bool {
        let now = clock().now
        guard !isClosed, isTime(at: now.wall) else { return false }
        guard limits != nil else { return isDelivering }
        beginning.withLock { _ in
            processWaiting()
            let end = now.monotonic + TimeAmount(duration).nanoseconds / 1_000
            if gate?.isOpen == false { recording.reason = type == .motion ? .motion : .event }
            due = .min
            record { $0.take(gate?.open(until: end) ?? []) }
        }
        return isDelivering
    }

    /// The camera's pictures are turned in another way from now on: the next key frame begins a segment. On the camera's
    /// event loop.
    func turn(_ rotation: PictureRotation) {
        processWaiting()
        recording.rotation = rotation
    }

    /// The source was lost, or the camera was switched off: ends the segment. On the camera's event loop.
    func pause() {
        isDelivering = false
        processWaiting()
        gate?.clear()
        record { $0.end() }
    }

    /// Ends the segment; nothing is recorded afterwards. On the camera's event loop.
    package func close() {
        pause()
        isClosed = true
    }

    /// - Returns: whether something is to be written.
    @discardableResult
    private func record(_ body: (CameraRecording) -> [CameraRecording.Output]) -> Bool {
        let before = recording.failure
        let outputs = body(recording)
        for output in outputs { write(output) }
        if let failure = recording.failure, failure.code != before?.code { onFailure(failure) }
        return !outputs.isEmpty
    }
}
