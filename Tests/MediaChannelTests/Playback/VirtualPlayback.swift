import IoTCore
import NIOCore

@testable import MediaChannel

/// A session on a virtual clock over recordings that are made as they are read: items of `length` seconds, each part a
/// second with 25 pictures and 50 sounds. Every other part begins with a key frame. A frame contains its time.
struct VirtualPlayback {
    struct Sent {
        var at: Int64
        /// On the session's clock.
        var pts: Int64
        var kind: MediaKind
        var wall: Int64
        var byteCount: Int
    }

    static let start: Int64 = 1_795_500_000_000_000

    var session: PlaybackSession
    var now: Int64 = 0
    private(set) var sent: [Sent] = []
    private(set) var events: [PlaybackEvent] = []
    private(set) var largestWait = 0
    /// The starts of the items, in seconds from `start`.
    let items: [Int64]
    let length: Int64
    /// How long a read takes.
    var readTime: Int64 = 1_000
    var failing: RecordedPlace?
    /// Items that were removed after they were listed.
    var removed: Set<Int64> = []
    /// Each part is recorded while it is played.
    var growing = false
    var isSoundOnly = false
    var pictureBytes = 0
    /// How much later than they are decoded pictures are presented, as with B-frames, µs.
    var reorder: Int64 = 0
    private var due: [(at: Int64, want: RecordedWant, keyFramesOnly: Bool, generation: Int)] = []
    private var timeout: Int64?

    init(_ strategy: PlaybackStrategy = .ascending, items: [Int64] = [0, 10, 20], length: Int64 = 10) {
        session = PlaybackSession(strategy: strategy, now: 0)
        self.items = items
        self.length = length
    }

    var pictures: [Sent] { sent.filter { $0.kind == .video } }

    mutating func perform(_ body: (inout PlaybackSession, Int64) -> Void) {
        body(&session, now)
        drain()
    }

    mutating func run(_ seconds: Double) {
        let end = now + Int64(seconds * 1_000_000)
        while let next = [timeout, due.map(\.at).min()].compactMap(\.self).min(), next <= end {
            now = max(now, next)
            if let position = due.firstIndex(where: { $0.at <= now }) {
                let read = due.remove(at: position)
                if let failing, case .following(let place) = read.want, place.part + 1 == failing.part,
                    place.item == failing.item
                {
                    session.readFailed(IoTError(.recorderUnavailable), generation: read.generation, at: now)
                } else {
                    session.receive(chunk(read.want, read.keyFramesOnly), generation: read.generation, at: now)
                }
            } else {
                session.handleTimeout(at: now)
            }
            drain()
        }
        now = end
    }

    private mutating func drain() {
        timeout = nil
        while let output = session.poll() {
            switch output {
            case .send(let frame, let wall):
                sent.append(
                    Sent(
                        at: now, pts: frame.pts, kind: frame.kind, wall: wall - Self.start,
                        byteCount: frame.bytes.readableBytes))
            case .read(let want, let keyFramesOnly, let generation):
                due.append((now + readTime, want, keyFramesOnly, generation))
                largestWait = max(largestWait, due.count)
            case .event(let event): events.append(event)
            case .timeout(let time):
                timeout = time
                return
            }
        }
    }

    private func chunk(_ want: RecordedWant, _ keyFramesOnly: Bool) -> RecordedReading {
        switch want {
        case .at(let time):
            let seconds = (time - Self.start) / 1_000_000
            guard let item = items.firstIndex(where: { $0 + length > seconds }) else { return .none }
            return part(item, max(0, seconds - items[item]) / 2 * 2, keyFramesOnly)
        case .following(let place): return part(Int(place.item) - 1, Int64(place.part + 1), keyFramesOnly)
        case .itemAfter(let item): return part(Int(item.id), 0, keyFramesOnly)
        case .itemBefore(let item): return part(Int(item.id) - 2, 0, keyFramesOnly)
        }
    }

    private func part(_ item: Int, _ part: Int64, _ keyFramesOnly: Bool) -> RecordedReading {
        guard items.indices.contains(item), (0..<length).contains(part) else { return .none }
        if now < recordedFrom(item, part) { return .later }
        if removed.contains(Int64(item + 1)) {
            return .unreadable(
                RecordedItem(id: Int64(item + 1), times: times(item), type: "event"), IoTError(.downloadNotFound))
        }
        let begin = Self.start + items[item] * 1_000_000
        var frames: [MediaFrame] = []
        for number in 0..<75 {
            if isSoundOnly, number < 25 { continue }
            let (kind, step, index) = number < 25 ? (MediaKind.video, 40_000, number) : (.audio, 20_000, number - 25)
            let time = begin + part * 1_000_000 + Int64(index * step)
            let isKey = kind == .audio || part % 2 == 0 && index == 0
            if keyFramesOnly, !isSoundOnly, kind == .audio || !isKey { continue }
            let bytes = ByteBuffer(repeating: 0, count: kind == .audio ? 200 : pictureBytes)
            let pts = kind == .video ? time + reorder : time
            frames.append(MediaFrame(kind: kind, isKeyFrame: isKey, pts: pts, dts: time, bytes: bytes))
        }
        return .chunk(
            RecordedChunk(
                place: RecordedPlace(item: Int64(item + 1), part: Int(part)),
                item: RecordedItem(id: Int64(item + 1), times: times(item), type: "event"),
                times: begin + part * 1_000_000..<begin + (part + 1) * 1_000_000, frames: frames))
    }

    private func times(_ item: Int) -> Range<Int64> {
        let begin = Self.start + items[item] * 1_000_000
        return begin..<begin + length * 1_000_000
    }

    /// When the part is recorded, on the session's clock.
    private func recordedFrom(_ item: Int, _ part: Int64) -> Int64 {
        growing ? (items[item] + part + 1) * 1_000_000 : 0
    }
}
