import IoTCore
import NIOCore
import PeerTransport

/// A gateway that only exchanges data with the camera, without media. Confined to the camera's event loop.
final class DataViewer: CalledViewer {
    let connection: ViewerConnection
    private var candidates: CandidateFeed?

    init(_ connection: ViewerConnection) {
        self.connection = connection
        connection.viewer = self
    }

    let hearsOpus = false
    let canReorder = true

    /// Returns an offer with a section for data alone.
    ///
    /// - Parameter candidates: receives the candidates that follow the offer.
    func makeOffer(candidates: CandidateFeed) throws(IoTError) -> String {
        self.candidates = candidates
        return try makePeer(isControlling: true).createOffer().text
    }

    func makePeer(isControlling: Bool) throws(IoTError) -> any ViewerPeer {
        var configuration = connection.configuration(isControlling: isControlling)
        configuration.dataChannels = .call
        return try connection.makePeer(configuration)
    }

    func found(candidate: String) { candidates?.tell(candidate) }

    func ended() { candidates = nil }

    // It gets no media.

    func uses(_ rendition: Rendition) -> Bool { false }
    func keyFrameCame(in rendition: Rendition, at now: NIODeadline) {}
    func restart(at now: NIODeadline) {}
    func pump(at now: NIODeadline) {}
    func clockChanged() {}
    func clockJumped(to pts: Int64, expected: Int64) {}
    func picturesReordered() {}
    func keyFrameRequested(mid: String, at now: NIODeadline) {}
    func retransmissionRequested(mid: String, _ sequences: [Int64]) {}
    func canHear(_ rendition: Rendition) -> Bool { false }
    func changed(from last: Rendition) -> Bool { false }
    func restarted(at now: NIODeadline) {}
}
