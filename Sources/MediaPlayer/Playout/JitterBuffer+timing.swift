import IoTCore
import NIOCore

// When frames are due: the base, the alignment of the tracks, the tolerance, discontinuities.
extension JitterBuffer {
    /// Updates the playout clock to `now`.
    mutating func retime() {
        let elapsed = now - (counters.retimedAt ?? now)
        counters.retimedAt = now
        guard clock != nil else { return }
        let moment = now
        clock?.advance(to: moment)
        align(elapsed: elapsed)
        guard let newBase = tracks.compactMap(\.base).min() else { return }
        let floor = tracks.reduce(0) { max($0, $1.recoveryTime) }
        if liveEdge.isCatchingUp {
            tolerance.raise(to: floor)
        } else {
            tolerance.handleBaseMoved(from: base, to: newBase)
            let late = tracks.indices.compactMap { index in
                tracks[index].transits.percentile95(at: now).map { $0 - tracks[index].offset }
            }
            if let latest = late.max() {
                tolerance.update(percentile: latest, base: newBase, floor: floor, at: now)
            }
        }
        base = newBase
        let target = base + delay
        let anchor = clock?.anchor ?? target
        clock?.setTarget(target)
        if target > anchor {
            // Released pictures that are not yet shown are postponed too; otherwise they would lead the sound.
            order.postpone(after: now, by: target - anchor)
            synchrony.postpone(after: now, by: target - anchor)
        }
        updateLiveEdge()
    }

    /// A frame is complete: it is held, and its transit time is recorded.
    mutating func hold(_ frame: MediaFrame) {
        let index = trackIndex(frame.kind)
        let discontinuity = discontinuity(before: frame, in: index)
        if discontinuity != nil { tracks[index].decodingTimes.restart() }
        let decodingTime = frame.kind == .video ? tracks[index].decodingTimes.next(pts: frame.pts) : frame.pts
        if frame.kind == .audio { _ = tracks[index].decodingTimes.next(pts: frame.pts) }
        if let discontinuity { join(index, after: discontinuity, decodingTime: decodingTime) }
        let cameLate = isPastDue(frame, in: index)
        learn(index, decodingTime: decodingTime)
        tracks[index].last = (frame.pts, now - frame.pts)
        tracks[index].held.append(
            HeldFrame(
                frame: frame, decodingTime: decodingTime, readyAt: now, fixedOffset: nil,
                discontinuity: discontinuity, cameLate: cameLate))
        retime()
        while tracks[index].held.count > options.maximumFrames
            || tracks[index].held.byteCount > options.maximumBytes, tracks[index].held.count > 1
        {
            release(from: index, isForced: true)
        }
    }

    /// The time at which a held frame should go to the decoder.
    func releaseTime(of frame: HeldFrame, in track: TrackPlayout) -> Int64 {
        guard let clock else { return now }
        if track.kind == .video, !hasShownPicture { return frame.readyAt }
        let time = clock.presentTime(of: track.senderTime(frame.decodingTime, of: frame))
        return time - options.margin.playoutMicroseconds
    }

    /// False while a burst catches up: its pictures are all late, and are shown at the raised playing speed.
    private func isPastDue(_ frame: MediaFrame, in index: Int) -> Bool {
        guard let clock, !liveEdge.isCatchingUp else { return false }
        return clock.presentTime(of: frame.pts + tracks[index].offset) < now
    }

    // MARK: Arrivals

    private mutating func learn(_ index: Int, decodingTime: Int64) {
        let transit = now - decodingTime
        if clock == nil {
            base = transit - tracks[index].offset
            clock = PlayoutClock(anchor: base + delay, rate: options.maximumSlew, at: now)
        } else if tracks[index].transits.isEmpty, tracks[index].last == nil {
            // The second track: without sender reports, both tracks are assumed to be equally fast.
            tracks[index].offset = reportedOffset(of: index, near: transit - base) ?? transit - base
        }
        let need = transit - tracks[index].offset - base
        // Frames after an outage do not measure the jitter until frames are on time again.
        let limit = tracks[index].overdue == nil ? options.maximumTolerance.playoutMicroseconds : delay
        if !liveEdge.isCatchingUp, need > limit {
            handleOverdue(index, transit: transit)
            return
        }
        tracks[index].overdue = nil
        tracks[index].transits.append(transit: transit, at: now)
        guard !liveEdge.isCatchingUp, let clock else { return }
        if clock.presentTime(of: decodingTime + tracks[index].offset) < now {
            tolerance.handleLate(transit: transit - tracks[index].offset, base: base, at: now)
        }
    }

    /// If all frames are equally late, the sender's clock has paused; in a burst after an outage, each frame is less
    /// late than the one before it.
    private mutating func handleOverdue(_ index: Int, transit: Int64) {
        guard let overdue = tracks[index].overdue, overdue.transit - transit < (now - overdue.since) / 2 else {
            tracks[index].overdue = (now, transit)
            return
        }
        guard now - overdue.since >= 500_000 else { return }
        counters.countDiscontinuity(tracks[index].kind, at: now)
        outputs.append(.discontinuity(tracks[index].kind, .clockStalled))
        tracks[index].overdue = nil
        tracks[index].transits.removeAll()
        let others = tracks.indices.filter { $0 != index && !tracks[$0].transits.isEmpty }
        if others.contains(where: { tracks[$0].overdue == nil && isAlive($0) }) {
            // The other track is on time, so this track's offset is wrong.
            tracks[index].reportOffset = nil
            tracks[index].offset = transit - base
        } else {
            for other in others { tracks[other].transits.removeAll() }
            tolerance.removePeak()
        }
        tracks[index].transits.append(transit: transit, at: now)
    }

    private func isAlive(_ index: Int) -> Bool {
        guard let last = tracks[index].last else { return false }
        return now - (last.pts + last.transit) < 1_000_000
    }

    // MARK: Two tracks

    /// The audio track leads: the picture is aligned to it. While a burst catches up, the first track leads.
    private mutating func align(elapsed: Int64) {
        guard tracks.count == 2, let first = tracks[0].transits.minimum, let second = tracks[1].transits.minimum
        else { return }
        let leader = liveEdge.isCatchingUp || tracks[0].kind == .audio ? 0 : 1
        let follower = 1 - leader
        let (leading, following) = leader == 0 ? (first, second) : (second, first)
        // Without reports, the fastest frames of both tracks are assumed to be equally fast.
        var wanted = following - (leading - tracks[leader].offset)
        wanted = reportedOffset(of: follower, near: wanted) ?? wanted
        let step = wanted - tracks[follower].offset
        let largest = Int64(Double(elapsed) * options.maximumSlew)
        if liveEdge.isCatchingUp || abs(step) > options.discontinuityThreshold.playoutMicroseconds {
            tracks[follower].offset = wanted
        } else {
            tracks[follower].offset += max(-largest, min(largest, step))
        }
    }

    /// The offset that aligns the track with the other one, from both tracks' sender reports.
    ///
    /// Nil for reports that need more delay than is allowed: they are wrong, or useless.
    private func reportedOffset(of index: Int, near guess: Int64) -> Int64? {
        guard let other = tracks.indices.first(where: { $0 != index }), let report = tracks[index].reportOffset,
            let otherReport = tracks[other].reportOffset
        else { return nil }
        let reported = tracks[other].offset + report - otherReport
        return abs(reported - guess) <= options.maximumTolerance.playoutMicroseconds ? reported : nil
    }

    // MARK: The live edge

    private mutating func updateLiveEdge() {
        guard let clock else { return }
        if liveEdge.isCatchingUp {
            let needed = Double(clock.backlog) / Double(max(1, options.catchUpDuration.playoutMicroseconds))
            self.clock?.rate = min(63, max(clock.rate, 7, needed))
        } else if clock.backlog > 500_000 {
            liveEdge.lose()
        }
        let since = liveEdge.heldSince
        if liveEdge.update(backlog: clock.backlog, target: clock.target, at: now) {
            self.clock?.rate = options.maximumSlew
            // Arrivals in the burst do not measure the network's jitter.
            for index in tracks.indices {
                tracks[index].transits.removeSamples(before: since ?? now)
            }
            counters.liveEdgeAt = counters.liveEdgeAt ?? since
            outputs.append(.reachedLiveEdge)
        }
    }

    // MARK: Discontinuities

    private mutating func discontinuity(before frame: MediaFrame, in index: Int) -> DiscontinuityReason? {
        defer { if frame.kind == .video { pendingDiscontinuity = nil } }
        guard let last = tracks[index].last else { return nil }
        let threshold = max(
            options.discontinuityThreshold.playoutMicroseconds, 8 * tracks[index].decodingTimes.interval)
        let step = frame.pts - last.pts
        let transitStep = now - frame.pts - last.transit
        if abs(step) > threshold {
            // A burst that leaves frames out also jumps ahead.
            let isAhead = step > 0 && liveEdge.isCatchingUp && step < 60_000_000
            return abs(transitStep) > threshold && !isAhead ? .timeJump : .gap
        }
        if frame.kind == .video, let pendingDiscontinuity { return pendingDiscontinuity }
        return frame.isDiscontinuity ? .marked : nil
    }

    /// Handles the first frame after a discontinuity. If its time does not fit the track's offset, the track gets a new
    /// offset, with which this frame has the minimum transit time.
    private mutating func join(_ index: Int, after reason: DiscontinuityReason, decodingTime: Int64) {
        counters.countDiscontinuity(tracks[index].kind, at: now)
        let transit = now - decodingTime
        let misfit = abs(transit - tracks[index].offset - base)
        let needsNewOffset =
            reason == .timeJump
            || reason == .marked && misfit > options.discontinuityThreshold.playoutMicroseconds
        guard needsNewOffset else { return }
        tracks[index].held.fix(offset: tracks[index].offset)
        tracks[index].transits.removeAll()
        tracks[index].reportOffset = nil
        tracks[index].overdue = nil
        tracks[index].offset = transit - base
    }
}
