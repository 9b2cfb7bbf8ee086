import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore
import PeerTransport

/// The receiving half of a channel: what the peer connection brings goes through the jitter buffer and comes out
/// when it is due. Owns no socket, clock or decoder.
struct ChannelReceiver {
    private(set) var video: VideoParameters?
    private(set) var audio: AudioParameters?
    private(set) var jitterBuffer: JitterBuffer
    private var clocks: [MediaKind: SenderClock] = [:]

    /// `codecs`: the negotiated codec of each track.
    init(codecs: [MediaKind: RTPCodec], options: JitterBufferOptions = JitterBufferOptions(), now: NIODeadline) {
        jitterBuffer = JitterBuffer(options: options, now: now)
        for codec in codecs.values {
            switch codec.trackParameters {
            case .video(let parameters): video = parameters
            case .audio(let parameters): audio = parameters
            case nil: break
            }
        }
        if let completed = video.flatMap({ VideoParameters(codec: $0.codec, parameterSets: $0.parameterSets) }) {
            video = completed
        }
        if let video { jitterBuffer.setVideoParameters(video) }
    }

    /// A whole frame of a track.
    mutating func receive(_ received: ReceivedFrame, at now: NIODeadline) {
        if received.frame.kind == .video, received.frame.isKeyFrame { videoMayHaveChanged(received.frame) }
        jitterBuffer.receive(
            received.frame, arrival: received.lastArrival, at: now, recoveryTime: received.recoveryTime)
    }

    mutating func frameLost(_ kind: MediaKind, at now: NIODeadline) {
        jitterBuffer.frameLost(kind, at: now)
    }

    mutating func senderReport(_ kind: MediaKind, _ mapping: SenderReportMapping, at now: NIODeadline) {
        let ticks = Double(mapping.rtpTimestamp) / Double(max(1, mapping.clockRate))
        clocks[kind, default: SenderClock()].report(
            pts: Int64(ticks * 1_000_000), offset: mapping.senderTime(ofRTPTimestamp: 0))
        jitterBuffer.senderReport(
            kind, senderMicroseconds: mapping.senderTime(ofRTPTimestamp: 0), trackPts: 0, at: now)
    }

    mutating func handleTimeout(at now: NIODeadline) {
        jitterBuffer.handleTimeout(at: now)
    }

    /// Nothing more will come: what is held comes out.
    mutating func flush(at now: NIODeadline) {
        jitterBuffer.flush(at: now)
    }

    /// Drain until `.timeout` or nil.
    mutating func poll() -> JitterBufferOutput? {
        jitterBuffer.poll()
    }

    /// A frame's time on the clock that both tracks share, µs; `nil` before the track's first sender report.
    func senderTime(_ kind: MediaKind, pts: Int64) -> Int64? {
        clocks[kind]?.senderTime(pts: pts)
    }

    private mutating func videoMayHaveChanged(_ keyFrame: MediaFrame) {
        guard let known = video, let found = VideoParameters(codec: known.codec, keyFrame: keyFrame), found != known
        else { return }
        video = found
        jitterBuffer.setVideoParameters(found)
    }
}
