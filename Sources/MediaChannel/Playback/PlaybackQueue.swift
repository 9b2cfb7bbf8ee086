import IoTCore
import NIOCore

/// The frames that were read and not sent yet, on one time line: the *cue*, in µs of recorded time without the gaps.
struct PlaybackQueue {
    struct Entry {
        var frame: MediaFrame
        /// The cues at which it is sent and presented.
        var dts: Int64
        var pts: Int64
        /// It is before the time that was sought, and only needed for decoding.
        var isLead: Bool
        /// Set for the first frame of an item.
        var begins: RecordedItem?
        /// What was skipped before it.
        var gap: Range<Int64>?
    }

    /// The frames before the sought time, which are sent fast.
    private struct Lead {
        var start: Int64
        /// The sought time, or the first recorded one after it.
        var end: Int64
        var scale: Double
        /// The playback's rate.
        var rate: Double
        /// Added to all later cues, so that the frames are sent at most at `leadBytesPerSecond`.
        var delay: Int64 = 0
        /// The cue from which on the next frame can be sent.
        private var free: Int64 = 0

        init(start: Int64, end: Int64, rate: Double) {
            self.start = start
            self.end = end
            self.rate = rate
            scale = rate / PlaybackQueue.leadRate
        }

        func cue(_ time: Int64) -> Int64 { Int64(Double(time - start) * scale) + delay }

        mutating func take(_ frame: MediaFrame) {
            delay += max(0, free - cue(frame.dts))
            let seconds = Double(frame.bytes.readableBytes) / Double(PlaybackQueue.leadBytesPerSecond)
            free = cue(frame.dts) + Int64(seconds * rate * 1_000_000)
        }
    }

    /// How much faster than real time the frames before the sought time are sent, but at most at `leadBytesPerSecond`.
    static let leadRate = 16.0
    /// 32 Mbit/s.
    static let leadBytesPerSecond = 4_000_000
    /// A longer time without recordings is skipped.
    static let longestPause: Int64 = 1_000_000

    private var entries: [Entry] = []
    private var head = 0
    private(set) var item: RecordedItem?
    private let target: Int64?
    private var lead: Lead?
    private var hasEndedLead = false
    /// Frames up to these times were sent before.
    private var sent: [MediaKind: Int64]
    /// After the lead, the cue of a time is `time - offset`.
    private var offset: Int64?
    /// What was appended ends at this time.
    private var reach: Int64?
    /// Whether everything since the last frame is recorded.
    private var isUnbroken = true
    private(set) var lastCue: Int64 = 0

    /// - Parameters:
    ///   - target: where playback begins; `nil` to continue after the frames of `sent`.
    ///   - sent: the decoding time of the last frame that was sent of each kind.
    ///   - item: whose frame was sent last.
    init(target: Int64?, sent: [MediaKind: Int64] = [:], item: RecordedItem? = nil) {
        self.target = target
        self.sent = sent
        self.item = item
    }

    var first: Entry? { head < entries.count ? entries[head] : nil }

    mutating func popFirst() {
        guard head < entries.count else { return }
        head += 1
        guard head >= 64, head * 2 >= entries.count else { return }
        entries.removeFirst(head)
        head = 0
    }

    /// - Parameter rate: of the playback.
    mutating func append(_ chunk: RecordedChunk, rate: Double) {
        let frames = chunk.frames.enumerated().sorted {
            ($0.element.dts, $0.offset) < ($1.element.dts, $1.offset)
        }.map(\.element)
        let hasVideo = frames.contains { $0.kind == .video }
        var begins = chunk.item.id == item?.id ? nil : chunk.item
        item = chunk.item
        if let reach, abs(chunk.times.lowerBound - reach) > Self.longestPause { isUnbroken = false }
        for frame in frames where isWanted(frame, hasVideo) {
            var gap: Range<Int64>?
            if let reach, let offset, !isUnbroken, abs(frame.dts - reach) > Self.longestPause {
                if frame.dts > reach { gap = reach..<frame.dts }
                // Items may come in any order: the cue continues.
                self.offset = frame.dts - (reach - offset)
            }
            append(frame, begins, gap, rate)
            isUnbroken = true
            reach = frame.dts
            begins = nil
        }
        if isUnbroken { reach = max(reach ?? .min, chunk.times.upperBound) }
    }

    private mutating func isWanted(_ frame: MediaFrame, _ hasVideo: Bool) -> Bool {
        if let last = sent[frame.kind] {
            guard frame.dts > last else { return false }
            sent[frame.kind] = nil
        }
        guard let target, !hasEndedLead else { return true }
        switch frame.kind {
        case .audio: return frame.pts >= target && (offset != nil || !hasVideo)
        case .video:
            // Pictures that are presented before the first key frame refer to others, which were not read.
            guard let lead else { return frame.isKeyFrame }
            return frame.pts >= lead.start
        }
    }

    private mutating func append(_ frame: MediaFrame, _ begins: RecordedItem?, _ gap: Range<Int64>?, _ rate: Double) {
        if offset == nil {
            offset = frame.dts
            if let target {
                let lead = Lead(start: frame.dts, end: max(target, frame.dts), rate: rate)
                self.lead = lead
                offset = lead.end - lead.cue(lead.end)
            }
        }
        if var lead, frame.dts >= lead.start, !hasEndedLead {
            let delay = lead.delay
            lead.take(frame)
            offset? -= lead.delay - delay
            self.lead = lead
            hasEndedLead = frame.dts >= lead.end
        }
        let isLeading = lead != nil && !hasEndedLead
        let cue = { [lead, offset = offset ?? 0] (time: Int64) in
            if let lead, isLeading, time < lead.end, time >= lead.start { lead.cue(time) } else { time - offset }
        }
        let (dts, pts) = (cue(frame.dts), cue(frame.pts))
        lastCue = max(lastCue, dts)
        entries.append(
            Entry(
                frame: frame, dts: dts, pts: max(dts, pts), isLead: isLeading && frame.pts < target ?? .min,
                begins: begins, gap: gap))
    }
}
