import NIOCore
import RTSP

/// Cuts sound into a camera's packets and says when to send each. A value without I/O.
///
/// Sound is sent as soon as it fills a packet, but no more than `lead` ahead of real time. If no sound comes, silence is
/// sent instead, so that the camera's clock continues and its buffer empties.
struct BackChannelFeed {
    /// How late sound may be before silence replaces it.
    static let patience = TimeAmount.milliseconds(100)

    private let packetSize: Int
    private let sampleRate: Int
    private let lead: TimeAmount
    private let limit: Int
    private var pending: [Int16] = []
    /// When the first packet was sent.
    private var start: NIODeadline?
    private var sentCount = 0
    private var isSilent = false
    /// Samples that were dropped, because they came faster than they could be sent.
    private(set) var dropped = 0

    init(_ format: BackChannelFormat, _ profile: BackChannelProfile) {
        packetSize = profile.sampleCount(format)
        sampleRate = format.sampleRate
        lead = profile.lead
        limit = packetSize + Self.samples(profile.lead + Self.patience, format.sampleRate)
    }

    /// Appends sound at the camera's rate. Beyond the limit, the oldest is dropped, because late speech is of no use.
    mutating func push(_ samples: [Int16], at now: NIODeadline) {
        if isSilent, let due {
            // The sound continues where the clock is now; otherwise all later packets would be late.
            let missed = Self.samples(now - due, sampleRate) - samples.count
            if missed > 0 { pending += Array(repeating: 0, count: missed) }
            isSilent = false
        }
        // The first sound is short, because of the resampler's delay. Without the silence before it, a part of every
        // packet would wait for the next sound.
        if start == nil, pending.isEmpty {
            pending = Array(repeating: 0, count: (packetSize - samples.count % packetSize) % packetSize)
        }
        pending += samples
        guard pending.count > limit else { return }
        dropped += pending.count - limit
        pending.removeFirst(pending.count - limit)
    }

    /// The next packet that is due; `nil` before.
    mutating func next(at now: NIODeadline) -> [Int16]? {
        guard let due else {
            guard pending.count >= packetSize else { return nil }
            start = now
            return take()
        }
        if pending.count >= packetSize { return now >= due - lead ? take() : nil }
        guard now >= due + Self.patience else { return nil }
        isSilent = true
        pending += Array(repeating: 0, count: packetSize - pending.count)
        return take()
    }

    /// When the next packet is complete if sound comes in real time.
    private var due: NIODeadline? {
        start.map { $0 + .nanoseconds(Int64(sentCount) * 1_000_000_000 / Int64(sampleRate)) }
    }

    private mutating func take() -> [Int16] {
        defer { pending.removeFirst(packetSize) }
        sentCount += packetSize
        return Array(pending.prefix(packetSize))
    }

    private static func samples(_ time: TimeAmount, _ rate: Int) -> Int {
        Int(time.nanoseconds / 1_000) * rate / 1_000_000
    }
}
