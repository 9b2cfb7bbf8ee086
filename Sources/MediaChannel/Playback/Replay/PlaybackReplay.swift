import IoTCore
import RecordingStore

/// Replays what happened at a camera in step with its recorded pictures, without I/O. After a jump it tells what holds at
/// that moment, and then each thing with the first picture or sound that is not older. Times are µs since 1970, `now` is
/// monotonic.
struct PlaybackReplay {
    enum Output: Hashable {
        /// Read this and call `receive` with it.
        case read(ReplayWant, generation: Int)
        case tell(ReplayMode, [ReplayItem])
    }

    /// How far is read at once, and the longest time without recordings in which everything is told.
    static let horizon: Int64 = 3_600_000_000
    /// How long before it is needed the next part is read: ten seconds at the highest speed.
    static let ahead: Int64 = 320_000_000
    /// The most items that wait when the next part is read.
    static let mostWaiting = 64
    /// How often is asked for what has happened since.
    private static let pause: Int64 = 1_000_000
    /// Sound and pictures are not sent exactly in the order of their times.
    private static let disorder: Int64 = 1_000_000

    /// Frames before this time are only needed for decoding; `nil` while nothing is played.
    private var start: Int64?
    /// Of the newest frame; `nil` after a jump.
    private var position: Int64?
    private var waiting: [ReplayItem] = []
    /// Where the next part begins; `nil` until the state is known.
    private var place: TimelinePlace?
    private var known: Int64 = .min
    private var generation = 0
    private var isReading = false
    /// Nothing is read before this.
    private var retry: Int64 = .min

    /// Playback jumps to this time.
    mutating func seek(to time: Int64) {
        self = PlaybackReplay(start: time, generation: generation + 1)
    }

    /// Nothing is played any more.
    mutating func stop() {
        self = PlaybackReplay(start: nil, generation: generation + 1)
    }

    init() {}

    private init(start: Int64?, generation: Int) {
        self.start = start
        self.generation = generation
    }

    /// A frame of this time was sent.
    mutating func played(_ time: Int64, at now: Int64) -> [Output] {
        guard let start, time >= start else { return [] }
        self.start = .min
        let isJump = position.map { time < $0 - Self.disorder || time > $0 + Self.horizon } ?? true
        if isJump {
            generation += 1
            (waiting, place, known) = ([], nil, .min)
            (isReading, retry) = (false, .min)
        }
        position = isJump ? time : max(position ?? time, time)
        return due() + read(at: now)
    }

    mutating func receive(_ page: ReplayPage, generation: Int, at now: Int64) -> [Output] {
        guard generation == self.generation else { return [] }
        isReading = false
        let isState = place == nil
        (place, known) = (page.end, page.known)
        if isState { return [.tell(.overwrite, page.items)] + read(at: now) }
        waiting += page.items
        retry = now + (page.items.isEmpty ? Self.pause : 0)
        return due()
    }

    /// A part could not be read.
    mutating func readFailed(generation: Int, at now: Int64) {
        guard generation == self.generation else { return }
        isReading = false
        retry = now + Self.pause
    }

    private mutating func due() -> [Output] {
        guard let position else { return [] }
        let items = Array(waiting.prefix { $0.time <= position })
        guard !items.isEmpty else { return [] }
        waiting.removeFirst(items.count)
        return [.tell(.append, items)]
    }

    private mutating func read(at now: Int64) -> [Output] {
        guard let position, !isReading, retry <= now else { return [] }
        guard let place else {
            isReading = true
            return [.read(.state(at: position), generation: generation)]
        }
        guard waiting.count < Self.mostWaiting, known < position + Self.ahead else { return [] }
        isReading = true
        return [.read(.following(place, until: position + Self.horizon), generation: generation)]
    }
}
