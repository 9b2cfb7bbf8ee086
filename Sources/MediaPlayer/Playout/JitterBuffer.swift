public import IoTCore
public import NIOCore

/// Plays one channel's tracks (video, audio or both) by their presentation times.
///
/// It takes coded frames in decoding order as they become complete, and releases them to the decoder when they are due,
/// with the time at which each is shown or heard. It owns no clock, timer or decoder: drain `poll()` after every call,
/// and call `handleTimeout(at:)` at the time of the last `.timeout`.
///
/// *The earliest possible time* of a frame is its sender time plus the minimum transit time of the last ten seconds.
/// A frame is presented `delay` after that. The delay is the tolerance (the 95th percentile of the lateness against
/// that minimum, or the last late arrival) plus a margin. Transit times are measured against decoding times, so the
/// reordering of B-frames does not count as jitter.
public struct JitterBuffer: Sendable {
    public let options: JitterBufferOptions

    var tracks: [TrackPlayout] = []
    var clock: PlayoutClock?
    var tolerance: ToleranceEstimator
    var liveEdge = LiveEdge()
    var gate: KeyFrameGate
    var order = PresentationOrder()
    var synchrony = Synchrony()
    var continuity = AudioContinuity()
    var stall: StallDetector
    var counters = JitterBufferCounters()

    /// The minimum transit time of both tracks on their common time line, µs.
    var base: Int64 = 0
    var hasShownPicture = false
    /// False while the sender sends only sound of a stream with pictures.
    private(set) var expectsPictures = true
    var picture: (width: Int, height: Int)?
    var pendingDiscontinuity: DiscontinuityReason?
    var now: Int64
    var outputs = CircularBuffer<PlayoutOutput>()

    /// - Parameter now: the start of play, from which `firstFrameTime` and `liveEdgeTime` count.
    public init(options: JitterBufferOptions = JitterBufferOptions(), now: NIODeadline) {
        self.options = options
        self.now = now.playoutMicroseconds
        tolerance = ToleranceEstimator(
            initial: options.initialTolerance.playoutMicroseconds,
            maximum: options.maximumTolerance.playoutMicroseconds, decay: options.toleranceDecay,
            peakLifetime: options.window.playoutMicroseconds)
        gate = KeyFrameGate(requestInterval: options.keyFrameRequestInterval.playoutMicroseconds)
        stall = StallDetector(threshold: options.stallThreshold.playoutMicroseconds)
        counters.startedAt = self.now
    }

    // MARK: Inputs

    /// Call this when the sender begins or stops to send pictures. Without pictures, the sound shows whether the stream
    /// stalls.
    public mutating func expectPictures(_ isExpected: Bool, at time: NIODeadline) {
        guard expectsPictures != isExpected else { return }
        expectsPictures = isExpected
        now = max(now, time.playoutMicroseconds)
        // The first frame is shown after the delay.
        stall.restart(at: now + currentDelay.playoutMicroseconds)
    }

    /// Sets the picture's size, frame rate and reorder depth, as far as known. Call it before the key frame from which
    /// they apply. A changed size is a discontinuity.
    public mutating func setVideoParameters(_ parameters: VideoParameters) {
        let index = trackIndex(.video)
        tracks[index].decodingTimes.setDepth(parameters.reorderDepth)
        if parameters.frameRate >= 0.5, parameters.frameRate <= 1_000 {
            tracks[index].decodingTimes.setInterval(Int64(1_000_000 / parameters.frameRate))
        }
        guard parameters.width > 0, parameters.height > 0 else { return }
        if let picture, picture != (parameters.width, parameters.height) {
            pendingDiscontinuity = .sizeChanged
        }
        picture = (parameters.width, parameters.height)
    }

    /// A frame is complete, and so are all frames before it in its track's decoding order.
    ///
    /// - Parameters:
    ///   - frame: its pts is in µs on the track's own unwrapped time line; its dts is ignored.
    ///   - arrival: when its last packet came.
    ///   - time: now; when nil, `arrival`.
    ///   - recoveryTime: the additional delay of a frame with a retransmitted packet; the tolerance is at least this.
    ///     Zero if no packets are lost.
    public mutating func receive(
        _ frame: MediaFrame, arrival: NIODeadline, at time: NIODeadline? = nil, recoveryTime: TimeAmount = .zero
    ) {
        tracks[trackIndex(frame.kind)].recoveryTime = max(0, recoveryTime.playoutMicroseconds)
        advance(to: max(arrival, time ?? arrival))
        guard frame.pts.magnitude < playoutTimeLimit.magnitude else {
            lose(frame.kind)
            return
        }
        if frame.kind == .video, !gate.admits(isKeyFrame: frame.isKeyFrame) {
            counters.skippedFrames += 1
            requestKeyFrameIfNeeded()
            return
        }
        guard options.isEnabled else {
            passThrough(frame)
            return
        }
        hold(frame)
        releaseDue()
    }

    /// A frame of this kind will never be complete.
    public mutating func frameLost(_ kind: MediaKind, at time: NIODeadline) {
        advance(to: time)
        lose(kind)
        releaseDue()
    }

    /// A sender report: `trackPts` on the track's own time line is `senderMicroseconds` on the sender's wall clock.
    public mutating func senderReport(
        _ kind: MediaKind, senderMicroseconds: Int64, trackPts: Int64, at time: NIODeadline
    ) {
        guard senderMicroseconds.magnitude < playoutTimeLimit.magnitude,
            trackPts.magnitude < playoutTimeLimit.magnitude
        else { return }
        tracks[trackIndex(kind)].reportOffset = senderMicroseconds - trackPts
        advance(to: time)
        releaseDue()
    }

    public mutating func handleTimeout(at time: NIODeadline) {
        advance(to: time)
        releaseDue()
    }

    /// No more frames will come: releases what is held, each frame with its own time.
    public mutating func flush(at time: NIODeadline) {
        advance(to: time)
        while let index = nextTrack() { release(from: index, isForced: false) }
        continuity.stop()
    }

    // MARK: Outputs

    /// Drain until `.timeout`, or nil when there is nothing to wait for.
    public mutating func poll() -> PlayoutOutput? {
        if let output = outputs.popFirst() { return output }
        return deadline.map { .timeout(NIODeadline(playoutMicroseconds: $0)) }
    }

    /// The jitter that the delay is sized for.
    public var currentTolerance: TimeAmount {
        .microseconds(options.fixedDelay == nil ? tolerance.tolerance : 0)
    }

    /// How long a frame is held beyond its earliest possible time.
    public var currentDelay: TimeAmount {
        .microseconds(delay)
    }

    /// When a released picture is due, as currently calculated: if the delay grows after the release, the picture is
    /// shown later than announced. Nil for a late picture, or one that is not among the last 32.
    public func presentTime(ofReleasedPicture pts: Int64) -> NIODeadline? {
        order.presentTime(pts: pts).map { NIODeadline(playoutMicroseconds: $0) }
    }

    /// The time of a pts of this track, in µs on the sender's wall clock; nil before its first sender report.
    public func senderMicroseconds(_ kind: MediaKind, pts: Int64) -> Int64? {
        guard pts.magnitude < playoutTimeLimit.magnitude else { return nil }
        return tracks.first { $0.kind == kind }?.reportOffset.map { $0 + pts }
    }

    // MARK: Internals

    var delay: Int64 {
        guard options.isEnabled else { return 0 }
        if let fixed = options.fixedDelay { return fixed.playoutMicroseconds }
        return tolerance.tolerance + options.margin.playoutMicroseconds
    }

    mutating func trackIndex(_ kind: MediaKind) -> Int {
        if let index = tracks.firstIndex(where: { $0.kind == kind }) { return index }
        tracks.append(TrackPlayout(kind: kind, window: options.window.playoutMicroseconds))
        return tracks.count - 1
    }

    mutating func advance(to time: NIODeadline) {
        now = max(now, time.playoutMicroseconds)
        retime()
    }

    mutating func lose(_ kind: MediaKind) {
        counters.lostFrames += 1
        outputs.append(.lost(kind))
        if kind == .video {
            gate.close()
            requestKeyFrameIfNeeded()
        }
    }

    mutating func requestKeyFrameIfNeeded() {
        guard gate.takeRequest(at: now) else { return }
        counters.keyFrameRequests += 1
        outputs.append(.requestKeyFrame)
    }

    private mutating func passThrough(_ frame: MediaFrame) {
        counters.emit(waited: 0)
        if frame.kind == .video, !hasShownPicture {
            hasShownPicture = true
            counters.firstFrameAt = now
        }
        outputs.append(
            .release(frame.kind, frame, presentAt: NIODeadline(playoutMicroseconds: now), isLate: false))
    }
}
