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

    init(_ connection: ViewerConnection) {
        self.connection = connection
        connection.viewer = self
    }

    private var stream: CameraStream { connection.stream }

    let hearsOpus = false

    /// Returns an offer of the camera's tracks, as text, with a section for talking from the first offer, so that talking
    /// needs no renegotiation.
    ///
    /// - Parameter candidates: receives the candidates that follow the offer.
    func makeOffer(candidates: CandidateFeed) throws(IoTError) -> String {
        self.candidates = candidates
        var configuration = connection.configuration(isControlling: true)
        // The encoder of a camera cannot be slowed down yet, so an estimate could only leave frames out.
        configuration.congestion.isEnabled = false
        if let video = stream.video {
            configuration.sections.append(connection.section(.video, mid: CameraStream.Section.video, video))
        }
        if let audio = stream.audio {
            configuration.sections.append(connection.section(.audio, mid: CameraStream.Section.audio, audio))
        }
        if connection.mayTalk { connection.addTalk(TalkSection.receiving(), to: &configuration) }
        configuration.dataChannels = .call
        let peer = try connection.makePeer(configuration)
        connection.sections = [.video: CameraStream.Section.video, .audio: CameraStream.Section.audio]
        return try peer.createOffer().text
    }

    func restart(at now: NIODeadline) {
        guard connection.canSend else { return }
        connection.start(video: stream.video, audio: stream.audio, soundIsLive: false, at: now)
        clockChanged()
        pump(at: now)
    }

    func pump(at now: NIODeadline) {
        connection.pump(video: stream.video, audio: stream.audio, at: now) { packet, _ in packet }
    }

    func clockChanged() {
        guard let clock = stream.clock else { return }
        connection.peer?.mediaClockAnchor = MediaClockAnchor(pts: clock.pts, wallClock: clock.wall)
    }

    // Its jitter buffer detects a jump by itself and reorders pictures.
    func clockJumped(to pts: Int64, expected: Int64) {}
    func picturesReordered() {}

    func found(candidate: String) { candidates?.tell(candidate) }

    // Ignored: pictures are not sent again, because its clock is the source's.
    func keyFrameRequested(mid: String, at now: NIODeadline) {}

    func retransmissionRequested(mid: String, _ sequences: [Int64]) {
        guard let track = mid == connection.sections[.video] ? stream.video : stream.audio else { return }
        for sequence in sequences {
            guard let packet = track.ring.packet(sequence: sequence) else { continue }
            connection.peer?.resend(packet, mid: mid)
        }
    }

    func ended() { candidates = nil }
}
