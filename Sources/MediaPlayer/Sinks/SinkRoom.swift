import Synchronization

/// How much may wait for a sink's reader.
package struct SinkLimits: Sendable, Hashable {
    /// µs of media.
    let duration: Int64
    let bytes: Int

    package init(duration: Int64, bytes: Int) {
        self.duration = duration
        self.bytes = bytes
    }
}

/// The room that frames take in a sink, from their admission until the reader has taken them.
struct SinkLoad: Sendable, Hashable {
    var frames = 0
    var duration: Int64 = 0
    var bytes = 0
    /// Frames before these were dropped.
    var followsLoss = false

    static func += (sum: inout SinkLoad, load: SinkLoad) {
        sum.frames += load.frames
        sum.duration += load.duration
        sum.bytes += load.bytes
        sum.followsLoss = sum.followsLoss || load.followsLoss
    }

    static func -= (sum: inout SinkLoad, load: SinkLoad) {
        sum.frames -= load.frames
        sum.duration -= load.duration
        sum.bytes -= load.bytes
    }
}

/// The bounded room of one sink: each frame is admitted, or dropped whole and counted.
///
/// It has no clock: the limit applies to the media's time. New frames are dropped, not waiting ones: every admitted
/// frame arrives, so a response with a fixed number of pictures is complete. After a loss, nothing is admitted until
/// half of the room is free. This gives readers runs of consecutive frames, and no frame that references a dropped one.
final class SinkRoom: Sendable {
    enum Admission: Hashable {
        case admitted(SinkLoad)
        /// `isFirst`: the frame before it was not dropped.
        case dropped(isFirst: Bool)
        /// All wanted frames were admitted before it: it is not counted.
        case surplus
    }

    /// The frames offered so far.
    struct Counts: Sendable, Hashable {
        var frames = 0
        var framesDropped = 0
        var bytesDropped = 0
    }

    private struct State {
        var waiting = SinkLoad()
        var counts = Counts()
        /// Frames still to be admitted; `nil` for all.
        var wanted: Int?
        var progress = MediaProgress()
        var isLosing = false
        var isClosed = false
    }

    private let limits: SinkLimits
    private let state: Mutex<State>

    /// - Parameter frames: how many are admitted; `nil` for all.
    init(_ limits: SinkLimits, frames: Int? = nil) {
        self.limits = limits
        state = Mutex(State(wanted: frames))
    }

    /// Admits or drops a frame. A single frame that is larger than the room is admitted if nothing waits.
    ///
    /// - Parameters:
    ///   - time: the frame's time, µs, on any clock that runs with the media.
    ///   - isStart: the frame references no other frame.
    func admit(at time: Int64, bytes: Int, isStart: Bool = true) -> Admission {
        state.withLock { state in
            guard state.wanted != 0 else { return .surplus }
            let load = SinkLoad(
                frames: 1, duration: state.progress.advance(to: time), bytes: bytes, followsLoss: state.isLosing)
            state.counts.frames += 1
            guard fits(load, state), !state.isLosing || isStart && isHalfFree(state) else {
                return Self.drop(bytes: bytes, &state)
            }
            state.isLosing = false
            state.wanted = state.wanted.map { $0 - 1 }
            state.waiting += load
            return .admitted(load)
        }
    }

    private func fits(_ load: SinkLoad, _ state: State) -> Bool {
        state.waiting.frames == 0
            || state.waiting.duration + load.duration <= limits.duration
                && state.waiting.bytes + load.bytes <= limits.bytes
    }

    private func isHalfFree(_ state: State) -> Bool {
        state.waiting.duration <= limits.duration / 2 && state.waiting.bytes <= limits.bytes / 2
    }

    private static func drop(bytes: Int, _ state: inout State) -> Admission {
        defer { state.isLosing = true }
        state.counts.framesDropped += 1
        state.counts.bytesDropped += bytes
        return .dropped(isFirst: !state.isLosing)
    }

    /// Counts an admitted frame as dropped, because it could not be passed on.
    func refuse(_ load: SinkLoad) -> Admission {
        state.withLock { state in
            state.waiting -= load
            state.wanted = state.wanted.map { $0 + 1 }
            return Self.drop(bytes: load.bytes, &state)
        }
    }

    /// The reader has taken the frames, or they are no longer wanted.
    func release(_ load: SinkLoad) {
        guard load.frames > 0 else { return }
        state.withLock { $0.waiting -= load }
    }

    /// Frames given from now on do not arrive.
    func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Frames were lost, and only a frame that references no other is missing before more are admitted.
    var needsStart: Bool { state.withLock { $0.isLosing && isHalfFree($0) } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    var waiting: SinkLoad { state.withLock { $0.waiting } }

    var counts: Counts { state.withLock { $0.counts } }
}

/// Measures how far media have advanced, independent of the frames' order and of clock jumps.
struct MediaProgress: Sendable {
    /// µs; a larger step between two frames is a break of the clock.
    private static let jump: Int64 = 1_000_000

    private var highest: Int64?

    /// - Returns: how far the frame is ahead of all before it, µs; 0 for a reordered frame, or after a break.
    mutating func advance(to time: Int64) -> Int64 {
        guard let highest else {
            highest = time
            return 0
        }
        let (step, overflow) = time.subtractingReportingOverflow(highest)
        guard !overflow, step > -Self.jump, step < Self.jump else {
            self.highest = time
            return 0
        }
        self.highest = max(highest, time)
        return max(0, step)
    }
}
