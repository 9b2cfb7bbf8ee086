package import IoTCore

/// Plays a camera's recordings for one caller, without I/O: decides what is read, and when each frame is sent. Drain
/// `poll()` after every call, and call `handleTimeout(at:)` at the time of the last `.timeout`.
///
/// The frames get times on one clock that never stops or jumps, that of the caller's wall: pauses, seeks and speeds
/// change when a frame is sent, not how a receiver plays. All times are µs; `now` is monotonic.
///
/// Sound is sent at the speed 1 alone: a frame of coded sound lasts as long at every speed, so at other speeds it would
/// overlap the next one or leave a hole.
package struct PlaybackSession {
    package enum Output: Sendable {
        /// Send the frame now; its times are on the session's clock. `wall` is its time since 1970.
        case send(MediaFrame, wall: Int64)
        /// Read this part and call `receive` with it.
        case read(RecordedWant, keyFramesOnly: Bool, generation: Int)
        case event(PlaybackEvent)
        /// Call `handleTimeout` at this time.
        case timeout(Int64)
    }

    /// How much is read ahead of the playback, in real time.
    static let readAhead: Int64 = 1_000_000
    /// A frame that comes later than this moves the position back.
    private static let lateness: Int64 = 80_000
    private static let reportInterval: Int64 = 1_000_000
    /// How long to wait for a part that is not recorded yet.
    private static let patience: Int64 = 300_000
    /// The end is told when the last frames have arrived, also those that had to be sent again.
    static let tail: Int64 = 250_000
    /// Two pictures never have the same time: a receiver would take them for one.
    private static let smallestDistance: Int64 = 1_000
    /// After so many items that cannot be read, without one that can, playback ends.
    private static let longestDamage = 32

    package private(set) var rate = 1.0
    package private(set) var isPaused = false
    /// The time since 1970 of the picture that was sent last; before, where playback begins.
    package private(set) var position: Int64?

    private var strategy: PlaybackStrategy
    private var queue = PlaybackQueue(target: nil)
    private var generation = 0
    private var isReading = false
    private var place: RecordedPlace?
    /// Nothing more is to be read.
    private var isComplete = false
    private var completedAt: Int64 = 0
    private var isFinished = false
    private var current: RecordedItem?
    private var sent: [MediaKind: Int64] = [:]
    /// A cue and when it is sent; `nil` until the first frame since a seek has come.
    private var anchor: (cue: Int64, at: Int64)?
    /// Pictures that are sent during a pause: up to the first one that is not only needed for decoding.
    private var isStepping = false
    /// The newest presentation time on the session's clock.
    private var newest: Int64 = .min
    private var reported: Int64 = .min
    private var now: Int64
    private var outputs: [Output] = []
    private var want: RecordedWant?
    /// Why the rest of an item is not played.
    private var failed: (item: Int64, code: ErrorCode)?
    /// Why nothing more is read.
    private var failure: ErrorCode?
    /// Items since the last one that could be read.
    private var damaged = 0
    /// When to ask again for a part that is not recorded yet.
    private var retry: Int64?
    /// Whether the item has pictures, as far as it was played.
    private var hasPictures = false
    /// Nothing from this time on is played; µs since 1970.
    private var end: Int64 = .max

    package init(strategy: PlaybackStrategy = .ascending, now: Int64) {
        self.strategy = strategy
        self.now = now
    }

    private var keyFramesOnly: Bool { rate > PlaybackSpeed.everyFrame }

    // MARK: Commands

    /// Plays from a time on, also in another item.
    ///
    /// - Parameter end: where playback ends; `nil` to leave it as it is.
    package mutating func seek(to time: Int64, until end: Int64? = nil, at now: Int64) {
        advance(to: now)
        if let end { self.end = end }
        queue = PlaybackQueue(target: time)
        sent = [:]
        position = time
        restart(.at(time))
        isStepping = isPaused
    }

    package mutating func pause(at now: Int64) {
        advance(to: now)
        guard !isPaused else { return }
        hold()
        isPaused = true
        isStepping = anchor == nil
    }

    package mutating func resume(at now: Int64) {
        advance(to: now)
        guard isPaused else { return }
        isPaused = false
        isStepping = false
        anchor?.at = max(self.now, newest)
        update()
    }

    /// Shows the next picture and stays paused.
    package mutating func step(at now: Int64) {
        pause(at: now)
        isStepping = true
        update()
    }

    /// - Parameter rate: from `PlaybackSpeed.check`.
    package mutating func setSpeed(_ rate: Double, at now: Int64) {
        advance(to: now)
        hold()
        let skipped = keyFramesOnly
        self.rate = rate
        guard skipped, !keyFramesOnly, let last = sent[.video] else { return update() }
        // The pictures after the last key frame were not read: continue with the first of them.
        let audio = max(sent[.audio] ?? .min, last)
        queue = PlaybackQueue(target: nil, sent: [.video: last, .audio: audio], item: current)
        restart(.at(last))
    }

    package mutating func setStrategy(_ strategy: PlaybackStrategy) {
        self.strategy = strategy
    }

    // MARK: Inputs

    package mutating func receive(_ part: RecordedReading, generation: Int, at now: Int64) {
        advance(to: now)
        guard generation == self.generation else { return }
        isReading = false
        switch part {
        case .chunk(let chunk): take(chunk)
        case .none: endOfItem()
        case .later: retry = self.now + Self.patience
        case .unreadable(let item, let error):
            damaged += 1
            outputs.append(.event(.didEndFile(item, error: error.code)))
            if damaged < Self.longestDamage, let next = item.isContinued(by: strategy) {
                want = next
                place = nil
            } else {
                complete(error.code)
            }
        }
        update()
    }

    /// The part could not be read: the rest of the item is skipped. Playback ends if it was the first part of one.
    package mutating func readFailed(_ error: IoTError, generation: Int, at now: Int64) {
        advance(to: now)
        guard generation == self.generation else { return }
        isReading = false
        if let place, place.item == queue.item?.id {
            failed = (place.item, error.code)
            endOfItem()
        } else {
            complete(error.code)
        }
        update()
    }

    package mutating func handleTimeout(at now: Int64) {
        advance(to: now)
        update()
    }

    /// Drain until `nil` or `.timeout`.
    package mutating func poll() -> Output? {
        if !outputs.isEmpty { return outputs.removeFirst() }
        return deadline.map { .timeout($0) }
    }

    // MARK: Private

    private mutating func advance(to now: Int64) {
        self.now = max(self.now, now)
    }

    private mutating func restart(_ want: RecordedWant) {
        generation += 1
        outputs.removeAll { if case .event = $0 { false } else { true } }
        (isReading, isComplete, isFinished) = (false, false, false)
        (anchor, place, failed, failure) = (nil, nil, nil, nil)
        (retry, damaged) = (nil, 0)
        self.want = want
        update()
    }

    /// The cue that is due now continues from now on.
    private mutating func hold() {
        guard let anchor, !isPaused else { return }
        let reached = anchor.cue + Int64(Double(max(0, now - anchor.at)) * rate)
        self.anchor = (min(reached, queue.first.map { max(anchor.cue, $0.dts) } ?? reached), now)
    }

    private mutating func take(_ chunk: RecordedChunk) {
        damaged = 0
        place = chunk.place
        var played = keyFramesOnly ? chunk.keyFrames : chunk
        played.frames.removeAll { $0.dts >= end }
        queue.append(played, rate: rate)
        if strategy != .descending, chunk.frames.contains(where: { $0.dts >= end }) { complete() }
    }

    private mutating func endOfItem() {
        guard place != nil, let next = queue.item?.isContinued(by: strategy) else { return complete() }
        want = next
        place = nil
    }

    private mutating func complete(_ reason: ErrorCode? = nil) {
        isComplete = true
        completedAt = now
        place = nil
        if let reason { failure = reason }
    }

    private func due(_ cue: Int64) -> Int64 {
        guard let anchor else { return now }
        return anchor.at + Int64((Double(cue - anchor.cue) / rate).rounded())
    }

    private var isStanding: Bool { isPaused && !isStepping }

    private var deadline: Int64? {
        guard !isStanding, !isFinished else { return nil }
        if let first = queue.first { return newAnchor(for: first) ?? due(first.dts) }
        if isPaused, isComplete { return nil }
        return isComplete ? finishTime : retry
    }

    private var finishTime: Int64 {
        (anchor == nil ? completedAt : due(queue.lastCue)) + Self.tail
    }

    private mutating func update() {
        read()
        while !isStanding, let entry = queue.first, isDue(entry) {
            queue.popFirst()
            send(entry)
            read()
        }
        guard isComplete, !isFinished, !isPaused, queue.first == nil, finishTime <= now else { return }
        isFinished = true
        endFile()
        if sent.isEmpty { failure = failure ?? .playbackListEmpty }
        outputs.append(.event(.finished(error: failure)))
    }

    /// When the entry is sent, if that does not follow from the frames before it. The pictures before a sought time keep
    /// their distances during a pause, too.
    private func newAnchor(for entry: PlaybackQueue.Entry) -> Int64? {
        guard anchor == nil || isStepping && !entry.isLead else { return nil }
        return max(now, newest + Self.smallestDistance)
    }

    private mutating func isDue(_ entry: PlaybackQueue.Entry) -> Bool {
        if let at = newAnchor(for: entry) { anchor = (entry.dts, at) }
        return due(entry.dts) <= now
    }

    private mutating func send(_ entry: PlaybackQueue.Entry) {
        if let item = entry.begins {
            endFile()
            current = item
            hasPictures = false
            outputs.append(.event(.willBeginFile(item)))
        }
        if let gap = entry.gap { outputs.append(.event(.gap(gap))) }
        let isVideo = entry.frame.kind == .video
        if keyFramesOnly, isVideo, !entry.frame.isKeyFrame { return }
        // A slow disk delays the playback.
        if now - due(entry.dts) > Self.lateness { anchor = (entry.dts, now) }
        sent[entry.frame.kind] = entry.frame.dts
        if isVideo || rate == 1 && !isPaused {
            var frame = entry.frame
            (frame.dts, frame.pts) = (due(entry.dts), due(entry.pts))
            newest = max(newest, frame.pts)
            outputs.append(.send(frame, wall: entry.frame.pts))
        }
        if isVideo {
            hasPictures = true
            if isPaused, !entry.isLead { isStepping = false }
        }
        guard isVideo || !hasPictures, !entry.isLead else { return }
        position = entry.frame.pts
        guard isPaused || reported <= now - Self.reportInterval else { return }
        reported = now
        outputs.append(.event(.position(entry.frame.pts)))
    }

    private mutating func endFile() {
        guard let ended = current else { return }
        current = nil
        let error = failed.flatMap { $0.item == ended.id ? $0.code : nil }
        outputs.append(.event(.didEndFile(ended, error: error)))
    }

    /// At most one part is read at a time, so that at most the time of `readAhead` and two parts wait.
    private mutating func read() {
        guard want != nil || place != nil, !isReading, !isComplete else { return }
        if queue.first != nil, due(queue.lastCue) - now > Self.readAhead { return }
        if let retry, retry > now { return }
        retry = nil
        if let place { want = .following(place) }
        guard let want else { return }
        isReading = true
        outputs.append(.read(want, keyFramesOnly: keyFramesOnly, generation: generation))
    }
}

extension RecordedChunk {
    fileprivate var keyFrames: RecordedChunk {
        let pictures = frames.filter { $0.kind == .video && $0.isKeyFrame }
        // A recording without pictures keeps its first sound, which has the time.
        let hasPictures = frames.contains { $0.kind == .video }
        return RecordedChunk(
            place: place, item: item, times: times, frames: hasPictures ? pictures : Array(frames.prefix(1)))
    }
}

extension RecordedItem {
    /// What is read after the item.
    fileprivate func isContinued(by strategy: PlaybackStrategy) -> RecordedWant? {
        switch strategy {
        case .single: nil
        case .ascending: .itemAfter(self)
        case .descending: .itemBefore(self)
        }
    }
}
