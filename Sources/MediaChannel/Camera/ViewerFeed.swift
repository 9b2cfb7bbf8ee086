import IoTCore
import NIOCore
import PeerTransport
import RTP

/// Decides what one viewer gets next, and how fast. It starts with the newest key frame, catches up with the live edge
/// at a paced rate, and then sends each packet when it is made.
///
/// The amount that is sent at once is limited: a client with the system's default socket receive buffer can hold no
/// more.
struct ViewerFeed {
    /// The minimum pace while catching up: 20 Mbit/s. The pace is ten times the stream's rate if that is higher.
    static let leastPace = 20_000_000

    /// The minimum pace of the first key frame, for which the viewer waits, and of new frames at the live edge:
    /// 64 Mbit/s. The pace is sixteen times the stream's rate if that is higher.
    static let leastUrgentPace = 64_000_000

    /// The maximum number of bytes sent at once: about 43 datagrams. Linux's default receive buffer
    /// (net.core.rmem_default, 208 KiB) holds about 92 of them, because each also counts the kernel's overhead.
    static let burst = 48_000

    /// The time between two batches: long enough to save timers, short enough for a home router's queue.
    static let interval: TimeAmount = .milliseconds(3)

    private var videoCursor: Int64?
    private var audioCursor: Int64?
    private var budget = 0
    private var lastRefill = NIODeadline.distantPast
    private var nextBatch: NIODeadline?

    /// The newest key frame when the viewer started: until it is sent completely, the pace is urgent.
    private var firstFrame: Int64?

    /// How often the viewer's position left the ring and was set to the newest key frame.
    private(set) var skips = 0

    init() {}

    var isStarted: Bool { videoCursor != nil || audioCursor != nil }

    /// Starts at the newest key frame, with the sound from that time or with live sound.
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

    /// Restarts at the newest key frame; sound continues.
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

    /// The first video packet that has not been sent.
    var nextPicture: Int64? { videoCursor }

    mutating func stop() {
        self = ViewerFeed()
    }

    /// The packets to send now. A viewer at the live edge gets everything new at once.
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

    /// When to call `next` again even if nothing new came; `nil` at the live edge.
    var timeout: NIODeadline? { nextBatch }

    /// The track of which alone new packets have come since the viewer was at the live edge, and the first of them; `nil`
    /// if the viewer is not there, or has new packets of both tracks.
    ///
    /// - Parameters:
    ///   - videoEnd: The sequence of the video track's next packet.
    ///   - audioEnd: The same of the audio track.
    func fresh(videoEnd: Int64?, audioEnd: Int64?) -> (kind: MediaKind, first: Int64)? {
        guard nextBatch == nil else { return nil }
        let picture = videoCursor.flatMap { $0 < videoEnd ?? $0 ? $0 : nil }
        let sound = audioCursor.flatMap { $0 < audioEnd ?? $0 ? $0 : nil }
        switch (picture, sound) {
        case (let first?, nil): return (.video, first)
        case (nil, let first?): return (.audio, first)
        default: return nil
        }
    }

    /// Moves past packets that are sent together.
    ///
    /// - Parameter isPaced: false for a byte stream, which paces itself.
    /// - Returns: false if they are too many bytes to send at once; then nothing has changed.
    mutating func take(
        _ kind: MediaKind, before end: Int64, byteCount: Int, isPaced: Bool, at now: NIODeadline
    ) -> Bool {
        let elapsed = max(min(now - lastRefill, .seconds(1)).nanoseconds / 1_000, 0)
        let available = min(budget + Self.bytes(in: elapsed, at: Self.leastPace), Self.burst)
        guard byteCount <= available || !isPaced else { return false }
        budget = max(available - byteCount, 0)
        lastRefill = max(lastRefill, now)
        switch kind {
        case .video: videoCursor = end
        case .audio: audioCursor = end
        }
        return true
    }

    private mutating func refill(video: CameraTrack?, at now: NIODeadline) {
        let elapsed = min(now - lastRefill, .seconds(1)).nanoseconds / 1_000
        guard elapsed > 0 else { return }
        lastRefill = now
        // At the live edge, the minimum pace has refilled the budget since the last frame.
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

    /// Bits per second.
    private func pace(of video: CameraTrack?) -> Int {
        guard let video else { return Self.leastUrgentPace }
        let rate = video.meter.bitrate ?? 0
        let isUrgent = isUrgent(video)
        return isUrgent ? max(Self.leastUrgentPace, 16 * rate) : max(Self.leastPace, 10 * rate)
    }

    /// Whether the first key frame is still being sent, or only the newest picture is left.
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

    /// Moves a viewer whose position left the ring to the newest key frame: whole frames are skipped, never single
    /// packets.
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
