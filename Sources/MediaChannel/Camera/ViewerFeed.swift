import IoTCore
import NIOCore
import PeerTransport
import RTP

/// What one viewer gets next, and how fast: it starts with the newest key frame, catches up with the live edge at a
/// paced rate, and from then on gets each packet when it is made.
///
/// However much there is to send, only so much leaves at once: a client that has left its socket's receive buffer as
/// the system makes it can hold no more.
struct ViewerFeed {
    /// The pace of catching up: at least 20 Mbit/s, and ten times the stream's own rate.
    static let leastPace = 20_000_000

    /// The pace of a key frame, for which the viewer waits, and of what is new at the live edge: at least 64 Mbit/s,
    /// and sixteen times the stream's own rate.
    static let leastUrgentPace = 64_000_000

    /// What may leave at once, bytes: some 43 datagrams. Linux's default receive buffer (net.core.rmem_default, 208 KiB)
    /// holds some 92 of them, as each counts with the kernel's own share.
    static let burst = 48_000

    /// A batch of the pace: long enough to spare timers, short enough for a home router's queue.
    static let interval: TimeAmount = .milliseconds(3)

    private var videoCursor: Int64?
    private var audioCursor: Int64?
    private var budget = 0
    private var lastRefill = NIODeadline.distantPast
    private var nextBatch: NIODeadline?

    /// The newest key frame when the viewer began: until all of it has left the pace is urgent.
    private var firstFrame: Int64?

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
        begin(at: now)
    }

    /// Begins again at the newest key frame; sound goes on.
    mutating func restartPicture(_ video: CameraTrack, at now: NIODeadline) {
        videoCursor = video.startSequence
        begin(at: now)
    }

    private mutating func begin(at now: NIODeadline) {
        firstFrame = videoCursor
        budget = max(budget, now - lastRefill < .seconds(1) ? 0 : Self.burst)
        lastRefill = now
        nextBatch = now
    }

    /// The first of the track's pictures that has not been sent.
    var nextPicture: Int64? { videoCursor }

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
        while budget > 0, let next = pop(video: video, audio: audio) {
            packets.append(next)
            budget -= next.packet.payload.readableBytes
        }
        let isBehind = behind(videoCursor, video) || behind(audioCursor, audio)
        nextBatch = isBehind ? now + Self.interval : nil
        return packets
    }

    /// When `next` is to be called again though nothing new came; `nil` at the live edge.
    var timeout: NIODeadline? { nextBatch }

    private mutating func refill(video: CameraTrack?, at now: NIODeadline) {
        let elapsed = min(now - lastRefill, .seconds(1)).nanoseconds / 1_000
        guard elapsed > 0 else { return }
        lastRefill = now
        // At the live edge the least pace has filled it since the last frame.
        guard budget + Self.bytes(in: elapsed, at: Self.leastPace) < Self.burst else {
            budget = Self.burst
            return
        }
        budget = min(budget + Self.bytes(in: elapsed, at: pace(of: video)), Self.burst)
    }

    /// - Parameter microseconds: at most a second.
    private static func bytes(in microseconds: Int64, at rate: Int) -> Int {
        Int(microseconds) * (rate / 8_000) / 1_000
    }

    /// Bits a second.
    private func pace(of video: CameraTrack?) -> Int {
        guard let video else { return Self.leastUrgentPace }
        let rate = video.meter.bitrate ?? 0
        let isUrgent = isUrgent(video)
        return isUrgent ? max(Self.leastUrgentPace, 16 * rate) : max(Self.leastPace, 10 * rate)
    }

    /// Whether the first key frame is still leaving, or nothing but the newest picture is left.
    private func isUrgent(_ video: CameraTrack) -> Bool {
        guard let next = videoCursor.flatMap({ video.ring.packet(sequence: $0) }) else { return true }
        if let firstFrame, video.ring.packet(sequence: firstFrame)?.pts == next.pts { return true }
        return video.ring.packet(sequence: video.endSequence - 1)?.pts == next.pts
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
