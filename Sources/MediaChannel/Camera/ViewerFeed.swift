import IoTCore
import NIOCore
import PeerTransport

/// What one viewer gets next, and how fast: it starts with the newest key frame, catches up with the live edge at a
/// paced rate, and from then on gets each packet when it is made.
struct ViewerFeed {
    /// The pace of catching up: at least 20 Mbit/s, and ten times the stream's own rate.
    static let leastPace = 20_000_000

    /// What may leave at once at the start, so that the key frame does not wait for the pace.
    static let firstBurst = 64_000

    /// A batch of the pace: long enough to spare timers, short enough for a home router's queue.
    static let interval: TimeAmount = .milliseconds(5)

    private var videoCursor: Int64?
    private var audioCursor: Int64?
    private var budget = 0
    private var nextBatch: NIODeadline?

    /// How often the viewer fell out of the ring and was put on the newest key frame.
    private(set) var skips = 0

    init() {}

    var isStarted: Bool { videoCursor != nil || audioCursor != nil }

    /// Begins at the newest key frame, with the sound that belongs to it, or with the sound of now.
    mutating func start(
        video: CameraTrack?, audio: CameraTrack?, soundIsLive: Bool = false, at now: NIODeadline
    ) {
        videoCursor = video?.startSequence
        if !soundIsLive, let video, let start = videoCursor, let pts = video.ring.packet(sequence: start)?.pts {
            audioCursor = audio?.firstSequence(notBefore: pts)
        } else {
            audioCursor = audio?.startSequence
        }
        budget = Self.firstBurst
        nextBatch = now
    }

    mutating func stop() {
        self = ViewerFeed()
    }

    /// What is to be sent now. A viewer at the live edge gets all that is new at once.
    mutating func next(
        video: CameraTrack?, audio: CameraTrack?, at now: NIODeadline
    ) -> [(kind: MediaKind, packet: MediaPacket)] {
        guard isStarted else { return [] }
        skipWhatIsGone(video: video, audio: audio)
        refill(video: video, at: now)
        var packets: [(kind: MediaKind, packet: MediaPacket)] = []
        while budget > 0 || nextBatch == nil, let next = pop(video: video, audio: audio) {
            packets.append(next)
            if nextBatch != nil { budget -= next.packet.payload.readableBytes }
        }
        let isBehind = behind(videoCursor, video) || behind(audioCursor, audio)
        nextBatch = isBehind ? now + Self.interval : nil
        return packets
    }

    /// When `next` is to be called again though nothing new came; `nil` at the live edge.
    var timeout: NIODeadline? { nextBatch }

    private mutating func refill(video: CameraTrack?, at now: NIODeadline) {
        guard let nextBatch, now >= nextBatch else { return }
        let rate = max(Self.leastPace, 10 * (video?.meter.bitrate ?? 0))
        let batches = 1 + (now - nextBatch).nanoseconds / Self.interval.nanoseconds
        let bytes = rate / 8 * Int(Self.interval.nanoseconds) / 1_000_000_000
        budget = min(budget, Self.firstBurst) + bytes * Int(min(batches, 4))
    }

    private func behind(_ cursor: Int64?, _ track: CameraTrack?) -> Bool {
        guard let cursor, let track else { return false }
        return cursor < track.endSequence
    }

    /// The packet with the lower time of the two tracks.
    private mutating func pop(
        video: CameraTrack?, audio: CameraTrack?
    ) -> (kind: MediaKind, packet: MediaPacket)? {
        let picture = videoCursor.flatMap { video?.ring.packet(sequence: $0) }
        let sound = audioCursor.flatMap { audio?.ring.packet(sequence: $0) }
        if let picture, picture.pts <= sound?.pts ?? .max {
            videoCursor = picture.sequence + 1
            return (.video, picture)
        }
        guard let sound else { return nil }
        audioCursor = sound.sequence + 1
        return (.audio, sound)
    }

    /// A viewer that fell out of the ring goes on with the newest key frame: whole frames are skipped, never
    /// packets here and there.
    private mutating func skipWhatIsGone(video: CameraTrack?, audio: CameraTrack?) {
        if let cursor = videoCursor, let video, cursor < video.endSequence, video.ring.packet(sequence: cursor) == nil {
            videoCursor = video.startSequence
            skips += 1
        }
        if let cursor = audioCursor, let audio, cursor < audio.endSequence, audio.ring.packet(sequence: cursor) == nil {
            audioCursor = audio.startSequence
        }
    }
}
