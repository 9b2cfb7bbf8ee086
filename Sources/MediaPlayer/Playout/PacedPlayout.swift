import IoTCore
import NIOCore

/// Plays a source that delivers frames on request (a file, a recording) at the user's rate, with pauses and seeks. It
/// owns no clock, timer or decoder: drain `poll()` after every call, and call `handleTimeout(at:)` at the time of the
/// last `.timeout`.
///
/// A frame is presented when the position reaches its pts. The position stops while there is nothing to play: a slow
/// source delays the presentation but loses nothing.
///
/// All times are µs; the source's two tracks share one clock.
struct PacedPlayout {
    /// Above this rate only key frames are played, without sound.
    static let everyFrameRate = 2.0
    static let rates = 0.125...32.0

    /// How far ahead of the position frames are requested, in real time.
    private static let lead: Int64 = 2_000_000
    private static let margin: Int64 = 10_000
    /// A frame that comes later than this after its due time moves the position back to the frame.
    private static let lateness: Int64 = 80_000
    private static let stallThreshold: Int64 = 500_000
    private static let maximumFrames = 4_096
    private static let maximumBytes = 64 << 20

    /// The newest seek's generation; frames of an earlier one are not played.
    private(set) var generation = 0
    private(set) var rate = 1.0
    private(set) var isPaused = false

    private let hasVideo: Bool
    private let reorderDepth: Int
    /// A past position and its time. The position does not move while `isWaiting` or `isPaused`.
    private var anchor: (pts: Int64, at: Int64)
    /// The first frame since the start or a seek has not come.
    private var isWaiting = true
    /// Pictures before this are decoded but not shown.
    private var target: Int64
    /// The number of pictures that are released during a pause, so that a seek's target is shown.
    private var previews = 0
    private var held: [MediaKind: HeldFrames] = [:]
    /// Tracks in which frames are missing after the held ones.
    private var lost: Set<MediaKind> = []
    private var gate = KeyFrameGate(requestInterval: .max)
    private var wanted: Int64?
    private var newest: Int64?
    private var stall = StallDetector(threshold: PacedPlayout.stallThreshold)
    private var isComplete = false
    private var isFinished = false
    private var now: Int64
    private var outputs = CircularBuffer<PlayoutOutput>()

    /// `start`: the pts of the first frame.
    init(video: VideoParameters?, start: Int64, now: NIODeadline) {
        hasVideo = video != nil
        reorderDepth = max(0, min(video?.reorderDepth ?? 0, 16))
        self.now = now.playoutMicroseconds
        let start = max(-playoutTimeLimit, min(start, playoutTimeLimit))
        anchor = (start, self.now)
        target = start
        demand()
    }

    private var playsKeyFramesOnly: Bool { rate > Self.everyFrameRate }
    private var isStanding: Bool { isPaused || isWaiting }

    /// The pts that is presented now.
    func position(at time: NIODeadline) -> Int64 { position(at: time.playoutMicroseconds) }

    private func position(at time: Int64) -> Int64 {
        isStanding ? anchor.pts : anchor.pts + Int64(Double(max(0, time - anchor.at)) * rate)
    }

    private func time(of pts: Int64) -> Int64 {
        anchor.at + Int64((Double(pts - anchor.pts) / rate).rounded(.up))
    }

    // MARK: Commands

    mutating func pause(at time: NIODeadline) {
        advance(to: time)
        guard !isPaused else { return }
        hold(at: position(at: now))
        isPaused = true
        previews = isWaiting ? reorderDepth + 1 : 0
    }

    mutating func resume(at time: NIODeadline) {
        advance(to: time)
        guard isPaused else { return }
        isPaused = false
        previews = 0
        hold(at: anchor.pts)
        update()
    }

    mutating func setRate(_ rate: Double, at time: NIODeadline) {
        advance(to: time)
        hold(at: position(at: now))
        let wasFast = playsKeyFramesOnly
        self.rate = max(Self.rates.lowerBound, min(rate, Self.rates.upperBound))
        // The pictures that were left out are missing now.
        if wasFast, !playsKeyFramesOnly { gate.close() }
        update()
    }

    /// Frames of the seek's generation start at the key frame before `pts`, which is within `playoutTimeLimit`.
    mutating func seek(to pts: Int64, generation: Int, at time: NIODeadline) {
        advance(to: time)
        self.generation = generation
        outputs.removeAll()
        held = [:]
        lost = []
        gate.close()
        anchor = (pts, now)
        target = pts
        isWaiting = true
        isComplete = false
        isFinished = false
        wanted = nil
        newest = nil
        stall = StallDetector(threshold: Self.stallThreshold)
        previews = isPaused ? reorderDepth + 1 : 0
        update()
    }

    // MARK: Inputs

    /// Takes frames in decoding order, with decoding times; both tracks are interleaved.
    mutating func receive(_ frame: MediaFrame, generation: Int, at time: NIODeadline) {
        advance(to: time)
        guard generation == self.generation, frame.pts.magnitude < playoutTimeLimit.magnitude,
            frame.dts.magnitude < playoutTimeLimit.magnitude
        else { return }
        // A frame far beyond the requested range is dropped.
        guard held[frame.kind]?.count ?? 0 < Self.maximumFrames,
            held[frame.kind]?.byteCount ?? 0 < Self.maximumBytes,
            wanted.map({ frame.dts <= $0 + aheadOfPosition }) ?? true
        else { return lose(frame.kind) }
        held[frame.kind, default: HeldFrames()].append(
            HeldFrame(
                frame: frame, decodingTime: frame.dts, readyAt: now, fixedOffset: nil,
                discontinuity: lost.remove(frame.kind) == nil ? nil : .gap))
        if isWaiting, frame.kind == .video || !hasVideo {
            isWaiting = false
            anchor.at = now
        }
        update()
    }

    /// A frame of this kind will never come.
    mutating func frameLost(_ kind: MediaKind, at time: NIODeadline) {
        advance(to: time)
        lose(kind)
    }

    /// The source has no more frames.
    mutating func complete(generation: Int, at time: NIODeadline) {
        advance(to: time)
        guard generation == self.generation else { return }
        isComplete = true
        if isWaiting {
            isWaiting = false
            anchor.at = now
        }
        update()
    }

    mutating func handleTimeout(at time: NIODeadline) {
        advance(to: time)
        update()
    }

    /// Drain until `.timeout`, or nil when there is nothing to wait for.
    mutating func poll() -> PlayoutOutput? {
        if let output = outputs.popFirst() { return output }
        return deadline.map { .timeout(NIODeadline(playoutMicroseconds: $0)) }
    }

    // MARK: Private

    private mutating func advance(to time: NIODeadline) {
        now = max(now, time.playoutMicroseconds)
    }

    /// Sets the position to `pts` now; it continues from there.
    private mutating func hold(at pts: Int64) {
        anchor = (pts, now)
        stall = StallDetector(threshold: Self.stallThreshold)
        if newest != nil, !isPaused { _ = stall.shown(at: now) }
    }

    /// Held frames are still played; the loss is reported with the frame after them.
    private mutating func lose(_ kind: MediaKind) {
        lost.insert(kind)
    }

    private var deadline: Int64? {
        guard !isStanding, !isFinished else { return nil }
        var times: [Int64] = []
        if let next {
            times.append(dueTime(of: next))
        } else if isComplete {
            times.append(time(of: newest ?? anchor.pts))
        } else if let stalled = stall.deadline(interval: 0) {
            times.append(stalled)
        }
        if let wanted, !isComplete { times.append(time(of: wanted - aheadOfPosition * 3 / 4)) }
        return times.min()
    }

    /// The frame that goes to the decoder next.
    private var next: MediaFrame? {
        held.values.compactMap(\.first?.frame).min { dueTime(of: $0) < dueTime(of: $1) }
    }

    /// When the frame goes to the decoder.
    private func dueTime(of frame: MediaFrame) -> Int64 {
        frame.pts < target ? now : time(of: frame.dts) - Self.margin
    }

    private mutating func update() {
        demand()
        while let next, isDue(next) { release(next.kind) }
        guard !isStanding, next == nil else { return }
        if isComplete, !isFinished, time(of: newest ?? anchor.pts) <= now {
            isFinished = true
            outputs.append(.finished)
        }
        if !isComplete, stall.update(interval: 0, at: now) {
            outputs.append(.stalled(tolerance: .zero, delay: .zero))
        }
    }

    private func isDue(_ frame: MediaFrame) -> Bool {
        if isWaiting { return false }
        // During a pause, frames are decoded up to the picture that the user sought.
        if isPaused { return previews > 0 }
        return dueTime(of: frame) <= now
    }

    private mutating func release(_ kind: MediaKind) {
        guard let head = held[kind]?.popFirst() else { return }
        let frame = head.frame
        if head.discontinuity != nil {
            outputs.append(.lost(kind))
            if kind == .video { gate.close() }
        }
        guard isPlayed(frame) else { return }
        var isLate = frame.pts < target
        if !isLate, !isPaused, now - time(of: frame.pts) > Self.lateness {
            // The source was slow: the position moves back to the frame.
            anchor = (frame.pts, now)
        }
        if isPaused {
            if frame.kind == .audio { isLate = true }
            if frame.kind == .video || !hasVideo, !isLate { previews -= 1 }
        }
        let presentAt = isPaused ? now : max(time(of: frame.pts), now)
        outputs.append(
            .release(frame.kind, frame, presentAt: NIODeadline(playoutMicroseconds: presentAt), isLate: isLate))
        guard !isLate else { return }
        newest = max(newest ?? frame.pts, frame.pts)
        if stall.shown(at: presentAt) { outputs.append(.resumed) }
    }

    private mutating func isPlayed(_ frame: MediaFrame) -> Bool {
        switch frame.kind {
        case .audio: return !playsKeyFramesOnly
        case .video:
            guard !playsKeyFramesOnly || frame.isKeyFrame else { return false }
            return gate.admits(isKeyFrame: frame.isKeyFrame)
        }
    }

    private var aheadOfPosition: Int64 { Int64(Double(Self.lead) * max(1, rate)) }

    /// Requests more frames when a quarter of the requested range is played.
    private mutating func demand() {
        let through = position(at: now) + aheadOfPosition
        guard !isComplete, wanted.map({ through - $0 >= aheadOfPosition / 4 }) ?? true else { return }
        wanted = through
        outputs.append(.want(through: through))
    }
}
