import IoTCore
import NIOCore

// What goes to the decoder, and when.
extension JitterBuffer {
    /// When `releaseDue` must be called next, µs.
    var deadline: Int64? {
        guard options.isEnabled else { return nil }
        var times = tracks.compactMap { track in track.held.first.map { releaseTime(of: $0, in: track) } }
        if let time = liveEdge.deadline, clock != nil { times.append(time) }
        // No timer for a past deadline: the next frame triggers the check. The timer is set `4 * coalescing` later, so
        // that sound that arrives in time needs none.
        if let time = continuity.deadline, time > now {
            times.append(time + 4 * coalescing)
        }
        if let time = stall.deadline(interval: shownInterval) { times.append(time) }
        return times.min()
    }

    mutating func releaseDue() {
        let horizon = now + coalescing
        while let index = nextTrack(), let head = tracks[index].held.first,
            releaseTime(of: head, in: tracks[index]) <= horizon
        {
            release(from: index, isForced: false)
        }
        while let hole = continuity.conceal(duration: audioInterval, next: nextSound, at: now) { conceal(hole) }
        if stall.update(interval: shownInterval, at: now) {
            counters.stalls += 1
            outputs.append(.stalled(tolerance: currentTolerance, delay: currentDelay))
        }
    }

    /// How early a frame may be released, µs. Zero while the tolerance is higher than `options.coalescing`: then the
    /// presentation times may still change, but not those of released sound.
    private var coalescing: Int64 {
        let allowed = options.coalescing.playoutMicroseconds
        return tolerance.tolerance <= allowed ? allowed : 0
    }

    /// The track with the earliest due first frame.
    func nextTrack() -> Int? {
        var next: (index: Int, time: Int64)?
        for index in tracks.indices {
            guard let head = tracks[index].held.first else { continue }
            let time = releaseTime(of: head, in: tracks[index])
            if time < next?.time ?? Int64.max { next = (index, time) }
        }
        return next?.index
    }

    /// - Parameter isForced: there is no room for the frame, or for those after it.
    mutating func release(from index: Int, isForced: Bool) {
        guard let held = tracks[index].held.popFirst() else { return }
        let kind = tracks[index].kind
        if let reason = held.discontinuity {
            outputs.append(.discontinuity(kind, reason))
            if kind == .video { order.restart() }
        }
        let sender = tracks[index].senderTime(held.frame.pts, of: held)
        let wanted = clock?.presentTime(of: sender) ?? now
        let presentAt: Int64?
        switch kind {
        case .video: presentAt = placePicture(held, sender: sender, wanted: wanted, isForced: isForced)
        case .audio: presentAt = placeSound(held, sender: sender, wanted: wanted, isForced: isForced)
        }
        counters.emit(waited: now - held.readyAt)
        if presentAt == nil { counters.lateFrames += 1 }
        outputs.append(
            .release(
                kind, held.frame, presentAt: NIODeadline(playoutMicroseconds: presentAt ?? wanted),
                isLate: presentAt == nil))
        if presentAt != nil { reportShown(kind, at: presentAt ?? wanted) }
    }

    /// When the picture is shown; nil: it is not shown.
    private mutating func placePicture(
        _ held: HeldFrame, sender: Int64, wanted: Int64, isForced: Bool
    ) -> Int64? {
        if !hasShownPicture {
            // The first picture is shown at once, even if it is old.
            hasShownPicture = true
            counters.firstFrameAt = now
            synchrony.shown(at: now, sender: sender)
            return order.place(pts: held.frame.pts, wanted: now)
        }
        guard !isForced, wanted >= held.readyAt,
            let placed = synchrony.place(pictureAt: wanted, sender: sender),
            let presentAt = order.place(pts: held.frame.pts, wanted: placed, notBefore: held.readyAt)
        else { return nil }
        synchrony.shown(at: presentAt, sender: sender)
        return presentAt
    }

    /// When the sound is heard; nil: it is not heard.
    private mutating func placeSound(
        _ held: HeldFrame, sender: Int64, wanted: Int64, isForced: Bool
    ) -> Int64? {
        guard !isForced, !held.cameLate, wanted >= held.readyAt, !isFirstPictureAwaited, liveEdge.isAudible(at: now),
            !continuity.isConcealed(at: wanted), synchrony.admits(soundAt: wanted, sender: sender)
        else { return nil }
        synchrony.heard(at: wanted, sender: sender)
        if let hole = continuity.hear(at: wanted, duration: audioInterval) { conceal(hole) }
        return wanted
    }

    /// Sound waits for the first picture, at most `longestWait`: the first picture can change the clock, and sound
    /// would then stop.
    private var isFirstPictureAwaited: Bool {
        !hasShownPicture && now - counters.startedAt < Self.longestWait && hasPictures
    }

    private static let longestWait: Int64 = 1_500_000

    private mutating func reportShown(_ kind: MediaKind, at presentAt: Int64) {
        guard kind == .video || !hasPictures else { return }
        if stall.shown(at: presentAt) { outputs.append(.resumed) }
    }

    private mutating func conceal(_ hole: (at: Int64, duration: Int64)) {
        counters.concealedMicroseconds += hole.duration
        outputs.append(
            .conceal(durationMicroseconds: hole.duration, at: NIODeadline(playoutMicroseconds: hole.at)))
    }

    /// When the next held sound is due.
    private var nextSound: Int64? {
        guard let track = tracks.first(where: { $0.kind == .audio }), let head = track.held.first else { return nil }
        return clock?.presentTime(of: track.senderTime(head.frame.pts, of: head))
    }

    private var hasPictures: Bool { expectsPictures && tracks.contains { $0.kind == .video } }
    private var shownInterval: Int64 { interval(of: expectsPictures ? .video : .audio) }
    private var audioInterval: Int64 { interval(of: .audio) }

    private func interval(of kind: MediaKind) -> Int64 {
        tracks.first { $0.kind == kind }?.decodingTimes.interval ?? 20_000
    }
}
