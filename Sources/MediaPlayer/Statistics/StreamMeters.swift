import IoTCore
import NIOCore

/// Measures a player's stream for its diagnosis. A value without a clock.
struct StreamMeters {
    /// How long sound and picture must be apart before that is reported: at the start, older frames come at once.
    static let patience = TimeAmount.seconds(5)
    /// Seconds; the limit of the IoT video SDK guide.
    static let largestDistance = 1.0

    private(set) var processing = ProcessingMeter()
    private(set) var keyFrames = KeyFrameMeter()
    private(set) var distance = TrackDistanceMeter()
    private var apartSince: NIODeadline?
    private var hasWarned = false

    mutating func received(_ frame: MediaFrame, senderTime: Int64?, at time: NIODeadline) {
        processing.received(frame.kind, pts: frame.pts, at: time)
        if frame.kind == .video { keyFrames.add(frame) }
        distance.received(frame.kind, senderTime: senderTime, at: time)
    }

    mutating func shown(_ kind: MediaKind, pts: Int64, at time: NIODeadline) {
        processing.shown(kind, pts: pts, at: time)
    }

    /// The distance in seconds, once, when it has been too large for `patience`.
    mutating func takeWarning(at now: NIODeadline) -> Double? {
        guard !hasWarned else { return nil }
        guard let seconds = distance.seconds, abs(seconds) > Self.largestDistance else {
            apartSince = nil
            return nil
        }
        let since = apartSince ?? now
        apartSince = since
        guard now - since >= Self.patience else { return nil }
        hasWarned = true
        return seconds
    }
}

/// The time from a frame's arrival until it is shown: the guide's Td. Pictures count, or sound if there are none.
struct ProcessingMeter {
    /// The number of newest frames that count.
    static let kept = 512
    private static let waitingLimit = 1_024

    private var arrivals: [MediaKind: [Int64: NIODeadline]] = [:]
    private var times: [MediaKind: CircularBuffer<Int64>] = [:]

    mutating func received(_ kind: MediaKind, pts: Int64, at time: NIODeadline) {
        if arrivals[kind, default: [:]].count >= Self.waitingLimit { arrivals[kind] = [:] }
        arrivals[kind, default: [:]][pts] = time
    }

    mutating func shown(_ kind: MediaKind, pts: Int64, at time: NIODeadline) {
        guard let arrival = arrivals[kind]?.removeValue(forKey: pts) else { return }
        if times[kind, default: []].count >= Self.kept { times[kind]?.removeFirst() }
        times[kind, default: []].append((time - arrival).nanoseconds / 1_000)
    }

    /// `nil` before a frame was shown.
    var percentiles: ProcessingTime? {
        let sorted = (times[.video] ?? times[.audio] ?? []).sorted()
        guard !sorted.isEmpty else { return nil }
        func percentile(_ percent: Int) -> Double {
            Double(sorted[min(sorted.count - 1, sorted.count * percent / 100)]) / 1_000_000
        }
        return ProcessingTime(p50: percentile(50), p95: percentile(95))
    }
}

/// Measures how far apart key frames are.
struct KeyFrameMeter {
    /// µs; a larger step between two pictures is a break of the clock.
    private static let jump: Int64 = 3_000_000

    private var key: Int64?
    private var newest: Int64?
    private var longest: Int64?

    mutating func add(_ frame: MediaFrame) {
        if let last = newest, (frame.pts &- last).magnitude > UInt64(Self.jump) {
            key = nil
            newest = nil
        }
        if frame.isKeyFrame {
            if let key { longest = max(longest ?? 0, frame.pts &- key) }
            key = frame.pts
        }
        newest = max(newest ?? frame.pts, frame.pts)
    }

    /// The longest time between two key frames so far, µs; also that since the newest one, if it is longer.
    var distance: Int64? {
        guard let key, let newest else { return longest }
        return max(longest ?? 0, newest &- key)
    }
}

/// Measures how far the picture that arrives is ahead of the sound that arrives at the same time.
struct TrackDistanceMeter {
    private var newest: [MediaKind: (sender: Int64, at: NIODeadline)] = [:]

    /// - Parameter senderTime: µs on the clock that both tracks share; `nil` while it is unknown.
    mutating func received(_ kind: MediaKind, senderTime: Int64?, at time: NIODeadline) {
        if let senderTime { newest[kind] = (senderTime, time) }
    }

    /// The picture's time minus the sound's; `nil` until both tracks have begun.
    var seconds: Double? {
        guard let picture = newest[.video], let sound = newest[.audio] else { return nil }
        let passed = (picture.at - sound.at).nanoseconds / 1_000
        return Double((picture.sender &- sound.sender) &- passed) / 1_000_000
    }
}
