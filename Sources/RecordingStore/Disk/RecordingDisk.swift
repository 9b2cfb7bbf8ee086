import Dispatch
import Foundation
package import IoTCore
import Synchronization

/// One recording disk with its thread. Cameras hand over fragments without waiting; what the disk cannot take yet waits
/// in memory, with a bound for each camera.
package final class RecordingDisk: Sendable {
    /// The state of the disk.
    package struct Report: Sendable {
        package var status: DiskStatus
        /// What waits in memory, in bytes.
        package var waiting: [CameraNumber: Int64] = [:]
        /// The cameras for which the disk is full.
        package var full: Set<CameraNumber> = []
        /// Fragments that were dropped since the start.
        package var dropped: [CameraNumber: Int] = [:]
        /// The bytes of complete segments.
        package var usage: [CameraNumber: Int64] = [:]
    }

    private struct State {
        /// What may wait for one camera, in bytes.
        let memory: Int64
        private(set) var queues: [CameraNumber: CameraQueue] = [:]
        /// The cameras of which something waits, so that nobody looks through all queues each time.
        private(set) var ready: Set<CameraNumber> = []
        var growing: [CameraNumber: (record: SegmentRecord, list: FragmentList)] = [:]
        var events: [RecordingEvent] = []
        var timelines: [CameraNumber: TimelineQueue] = [:]
        var timelineEnd: Int64
        var removals: [RemovalOrder] = []
        var limits: [CameraNumber: CameraLimits]
        var report: Report
        var isWaiting = false
        var isStopping = false

        /// Changes a camera's queue. The first time, it is made.
        mutating func withQueue<Value>(of camera: CameraNumber, _ body: (inout CameraQueue) -> Value) -> Value {
            func change(_ queue: inout CameraQueue) -> (Value, isEmpty: Bool) { (body(&queue), queue.isEmpty) }
            let (value, isEmpty) = change(&queues[camera, default: CameraQueue(limit: memory)])
            if isEmpty { ready.remove(camera) } else { ready.insert(camera) }
            return value
        }

        mutating func takeRemovals() -> [RemovalOrder] {
            defer { removals = [] }
            return removals
        }

        /// Combines with the last event of the same camera, so that the events that wait are bounded.
        mutating func note(_ dropped: DroppedFragments, of camera: CameraNumber) {
            report.dropped[camera, default: 0] += dropped.count
            for (position, event) in events.enumerated() {
                guard case .dropped(camera, var sum) = event else { continue }
                sum.count += dropped.count
                sum.bytes += dropped.bytes
                sum.to = dropped.to
                events[position] = .dropped(camera, sum)
                return
            }
            events.append(.dropped(camera, dropped))
        }
    }

    private static let mostRemovals = 16

    private let state: Mutex<State>
    private let wakeUp = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let configuration: DiskConfiguration
    private let clock: @Sendable () -> Moment

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - clockState: whether the wall clock of `clock` is right.
    ///   - onEvent: called on the disk's thread.
    package init(
        files: any RecordingFiles, index: any RecordingIndexing, scanner: any SegmentScanner, leases: SegmentLeases,
        configuration: DiskConfiguration, clock: @escaping @Sendable () -> Moment = Moment.now,
        clockState: DiskClock = .unknown,
        onEvent: @escaping @Sendable (RecordingEvent) -> Void
    ) {
        self.configuration = configuration
        self.clock = clock
        let writer = DiskWriter(
            files: files, index: index, scanner: scanner, leases: leases, configuration: configuration,
            clock: clockState)
        state = Mutex(
            State(
                memory: configuration.memory, timelineEnd: clock().wall, limits: configuration.limits,
                report: Report(status: writer.status)))
        let thread = Thread { [self] in
            ThreadName.set("recording")
            run(writer, onEvent)
            ended.signal()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    // MARK: Cameras

    /// Begins a segment of a camera. The one before ends without a closing part, if it did not end yet.
    package func begin(_ opening: SegmentOpening, of camera: CameraNumber) {
        change { $0.withQueue(of: camera) { $0.begin(opening) } }
    }

    /// Adds a fragment of the camera's last segment. If too much waits, the oldest is dropped, and an event says so.
    package func append(_ fragment: StoredFragment, of camera: CameraNumber) {
        change { state in
            guard let dropped = state.withQueue(of: camera, { $0.append(fragment) }) else { return }
            state.note(dropped, of: camera)
        }
    }

    /// Ends the camera's last segment.
    package func end(_ ending: SegmentEnding?, of camera: CameraNumber) {
        change { $0.withQueue(of: camera) { $0.end(ending) } }
    }

    /// Stores something that happened at a camera with the next sync round.
    package func note(_ entry: TimelineEntry, of camera: CameraNumber) {
        state.withLock { $0.timelines[camera, default: TimelineQueue()].append(entry) }
    }

    /// What happened at the cameras before this time is in the index; µs since 1970.
    package var timelineEnd: Int64 { state.withLock { $0.timelineEnd } }

    /// Drops the camera's fragments and events that wait for the disk. What follows until a segment is begun is dropped,
    /// too, unless it continues a file.
    package func discardWaiting(of camera: CameraNumber) {
        change { state in
            state.timelines[camera]?.dropMoments()
            guard let dropped = state.withQueue(of: camera, { $0.discard() }) else { return }
            state.note(dropped, of: camera)
        }
    }

    /// Changes what the recordings of a camera may use. What exceeds it is removed in the next sync round.
    package func set(_ limits: CameraLimits, of camera: CameraNumber) {
        change { $0.limits[camera] = limits }
    }

    /// What the recordings of a camera may use, with the usual limits where it has none of its own.
    package func limits(of camera: CameraNumber) -> CameraLimits {
        var configuration = configuration
        configuration.limits = state.withLock { $0.limits }
        return configuration.limits(of: camera)
    }

    /// A camera's growing segment with everything that was written, also what the index does not have yet.
    package func growing(_ camera: CameraNumber) -> (record: SegmentRecord, list: FragmentList)? {
        state.withLock { $0.growing[camera] }
    }

    /// Removes the camera's segments that overlap a time range. Those that are kept, being read or growing stay.
    ///
    /// - Parameter times: µs since 1970.
    /// - Throws: `tooManyRequests` if many removals wait, `recorderUnavailable` if the disk is paused or fails,
    ///   `storeFailed` for the index, `stopping`.
    package func remove(_ camera: CameraNumber, in times: Range<Int64>) async throws(IoTError) -> RemovalReport {
        let result: Result<RemovalReport, IoTError> = await withCheckedContinuation { continuation in
            var refusal: IoTError?
            change { state in
                if state.isStopping {
                    refusal = IoTError(.stopping)
                } else if state.removals.count >= Self.mostRemovals {
                    refusal = IoTError(.tooManyRequests, "\(Self.mostRemovals) removals of recordings wait already")
                } else {
                    state.removals.append(
                        RemovalOrder(camera: camera, times: times) { continuation.resume(returning: $0) })
                }
            }
            if let refusal { continuation.resume(returning: .failure(refusal)) }
        }
        return try result.get()
    }

    package var report: Report {
        state.withLock { state in
            var report = state.report
            report.waiting = state.queues.mapValues(\.bytes)
            return report
        }
    }

    /// Writes what waits, completes all segments and ends the thread. Blocks until then.
    package func stop() {
        change { $0.isStopping = true }
        ended.wait()
        ended.signal()
    }

    private func change(_ body: (inout State) -> Void) {
        let wakes = state.withLock { state in
            body(&state)
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        if wakes { wakeUp.signal() }
    }

    // MARK: The thread

    private func run(_ start: DiskWriter, _ onEvent: (RecordingEvent) -> Void) {
        var writer = start
        while true {
            writer.set(state.withLock { $0.limits })
            let isRound = writer.deadline <= clock().monotonic
            let taken = isRound ? takeTimelines(&writer) : 0
            writer.tick(at: clock())
            if isRound, writer.isRecording, writer.timelines.isEmpty { state.withLock { $0.timelineEnd = taken } }
            carryOutRemovals(&writer)
            let isStopping = state.withLock { $0.isStopping }
            let wrote = writeWaiting(&writer)
            if isStopping, !wrote { break }
            publish(&writer, onEvent)
            wait(for: writer)
        }
        _ = takeTimelines(&writer)
        writer.stop(at: clock())
        for removal in state.withLock({ $0.takeRemovals() }) { removal.onEnd(.failure(IoTError(.stopping))) }
        publish(&writer, onEvent)
    }

    /// - Returns: when.
    private func takeTimelines(_ writer: inout DiskWriter) -> Int64 {
        let (timelines, now) = state.withLock { state in
            defer { state.timelines = [:] }
            return (state.timelines, clock().wall)
        }
        writer.timelines.merge(timelines) { older, newer in
            var queue = older
            queue.append(newer)
            return queue
        }
        return now
    }

    private func carryOutRemovals(_ writer: inout DiskWriter) {
        for removal in state.withLock({ $0.takeRemovals() }) {
            removal.onEnd(writer.remove(removal.camera, in: removal.times, at: clock()))
        }
    }

    /// Writes one step of each camera.
    ///
    /// - Returns: Whether anything was written.
    private func writeWaiting(_ writer: inout DiskWriter) -> Bool {
        guard writer.isRecording else { return false }
        let cameras = state.withLock { $0.ready }.sorted()
        var wrote = false
        for camera in cameras {
            let now = clock()
            guard writer.mayWrite(camera, at: now.monotonic),
                let step = state.withLock({ $0.withQueue(of: camera) { $0.next() } })
            else { continue }
            let before = writer.lanes[camera]?.open?.record.id
            let outcome = writer.write(step, of: camera, at: now)
            wrote = wrote || outcome != .later
            let open = writer.lanes[camera]?.open
            let beganFile = open != nil && open?.record.id != before
            let isUnwanted = state.withLock { state in
                var isUnwanted = false
                defer { state.growing[camera] = isUnwanted ? nil : open.map { ($0.record, $0.list) } }
                guard case .fragment(let fragment, let number, _, let isFirst, let afterGap) = step else {
                    return false
                }
                // It was discarded while it was written. If not yet, the owner that will be noted does not see the file.
                isUnwanted = state.withQueue(of: camera) { queue in
                    let isUnwanted = beganFile && queue.isDiscarded
                    queue.note(hasFile: open?.opening == number && !isUnwanted)
                    return isUnwanted
                }
                var isLost = outcome == .dropped
                if outcome == .later {
                    isLost = !state.withQueue(of: camera) {
                        $0.putBack(fragment, of: number, isFirst: isFirst, afterGap: afterGap)
                    }
                }
                if isLost {
                    var dropped = DroppedFragments()
                    dropped.add(fragment)
                    state.note(dropped, of: camera)
                }
                return isUnwanted
            }
            if isUnwanted { writer.removeOpen(camera, at: now) }
        }
        return wrote
    }

    private func publish(_ writer: inout DiskWriter, _ onEvent: (RecordingEvent) -> Void) {
        let events = writer.events
        writer.events = []
        let others = state.withLock { state in
            state.report.status = writer.status
            state.report.usage = writer.usage
            state.report.full = writer.full
            // A disk that pauses forgets what is open.
            if !writer.isRecording {
                state.growing = [:]
                for camera in state.queues.keys { state.withQueue(of: camera) { $0.note(hasFile: false) } }
            }
            defer { state.events = [] }
            return state.events
        }
        for event in events + others { onEvent(event) }
    }

    /// Until something is to be written or the writer's deadline, on the monotonic clock.
    private func wait(for writer: DiskWriter) {
        let now = clock().monotonic
        var deadline = writer.deadline
        if writer.isRecording {
            deadline = min(deadline, writer.nextRetry(after: now) ?? .max)
        }
        let pause = max(0, min(deadline - now, 60_000_000))
        let waits = state.withLock { state in
            let hasWork =
                !state.removals.isEmpty
                || writer.isRecording
                    && state.ready.contains { writer.mayWrite($0, at: now) }
            state.isWaiting = !hasWork && !state.isStopping
            return state.isWaiting
        }
        guard waits else { return }
        _ = wakeUp.wait(timeout: .now() + .microseconds(Int(pause)))
        state.withLock { $0.isWaiting = false }
    }
}

extension Moment {
    /// Both of the machine's clocks.
    @Sendable package static func now() -> Moment {
        Moment(monotonic: monotonic(), wall: WallClock.microseconds())
    }

    /// The monotonic clock alone, µs.
    static func monotonic() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
