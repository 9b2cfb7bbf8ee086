import IoTCore
import NIOCore
import PeerTransport
import RTP

/// A gateway as a viewer. It plays by the source's clock and catches up by itself. Our candidates are sent to it one by
/// one. Confined to the camera's event loop.
final class GatewayViewer: CalledViewer {
    let connection: ViewerConnection

    /// Receives the candidates that follow the offer.
    private var candidates: CandidateFeed?
    private var audioCodec: RTPCodec?

    init(_ connection: ViewerConnection) {
        self.connection = connection
        connection.viewer = self
    }

    let hearsOpus = false
    let canReorder = true

    /// Returns an offer of the camera's tracks, as text, with a section for talking from the first offer, so that talking
    /// needs no renegotiation.
    ///
    /// - Parameter candidates: receives the candidates that follow the offer.
    func makeOffer(candidates: CandidateFeed) throws(IoTError) -> String {
        self.candidates = candidates
        var configuration = connection.configuration(isControlling: true)
        // The encoder of a camera cannot be slowed down yet, so an estimate could only leave frames out.
        configuration.congestion.isEnabled = false
        if let video = connection.run.rendition.video {
            configuration.sections.append(connection.section(.video, mid: CameraStream.Section.video, video))
        }
        if let audio = connection.run.rendition.audio {
            audioCodec = audio.codec
            configuration.sections.append(connection.section(.audio, mid: CameraStream.Section.audio, audio))
        }
        if connection.isLive { connection.addCaller(CallerSection.receiving(), to: &configuration) }
        if connection.mayTalk { connection.addTalk(TalkSection.receiving(), to: &configuration) }
        configuration.dataChannels = .call
        let peer = try connection.makePeer(configuration)
        connection.sections = Dictionary(
            uniqueKeysWithValues: configuration.sections.filter { $0.direction.sends }.map { ($0.kind, $0.mid) })
        return try peer.createOffer().text
    }

    func restart(at now: NIODeadline) {
        guard connection.canSend else { return }
        connection.start(video: connection.video, audio: connection.audio, soundIsLive: false, at: now)
        clockChanged()
        pump(at: now)
    }

    func pump(at now: NIODeadline) {
        let (video, audio, run) = (connection.video, connection.audio, connection.run)
        connection.pump(video: video, audio: audio, at: now) { packet, kind in
            // The first run has the source's own clock and sequences.
            guard run.firstSequence > 0, let track = kind == .video ? video : audio else { return packet }
            return run.placed(packet, kind, clockRate: track.codec.clockRate)
        }
    }

    func clockChanged() {
        let run = connection.run
        guard let clock = run.rendition.clock else { return }
        connection.peer?.mediaClockAnchor = MediaClockAnchor(pts: run.clock.live(clock.pts), wallClock: clock.wall)
    }

    // Its jitter buffer detects a jump by itself and reorders pictures.
    func clockJumped(to pts: Int64, expected: Int64) {}
    func picturesReordered() {}

    func found(candidate: String) { candidates?.tell(candidate) }

    // Ignored: pictures are not sent again, because its clock is the source's.
    func keyFrameRequested(mid: String, at now: NIODeadline) {}

    func retransmissionRequested(mid: String, _ sequences: [Int64]) {
        let kind = mid == connection.sections[.video] ? MediaKind.video : .audio
        for sequence in sequences {
            guard let packet = connection.sentPacket(sequence, kind) else { continue }
            connection.peer?.resend(packet, mid: mid)
        }
    }

    func canHear(_ rendition: Rendition) -> Bool {
        guard let codec = rendition.audio?.codec else { return false }
        return codec == audioCodec
    }

    func changed(from last: Rendition) -> Bool { canHear(rendition) }

    func restarted(at now: NIODeadline) { clockChanged() }

    func ended() { candidates = nil }
}
