import IoTCore
import NIOCore
import PeerTransport
import RTP

/// The part of a peer connection that a viewer needs.
protocol ViewerPeer: ControlTransport {
    var localDescription: SessionDescription? { get }
    var mediaClockAnchor: MediaClockAnchor? { get set }
    /// URLs of ICE servers.
    var unansweredServers: Set<String> { get }
    var answeredServers: Set<String> { get }
    var statistics: PeerStatistics { get }

    func createOffer() throws(IoTError) -> SessionDescription
    func createAnswer(
        to offer: SessionDescription, accepting: (MediaSection) -> Bool
    ) throws(IoTError) -> SessionDescription
    func setAnswer(_ answer: SessionDescription) throws(IoTError)
    func addRemoteCandidate(_ text: String) throws(IoTError)
    @discardableResult func send(_ packets: [MediaPacket], mid: String) -> Bool
    @discardableResult func resend(_ packet: MediaPacket, mid: String) -> Bool
    func undelivered(mid: String) -> [Int64]
    func repair(_ sequences: [Int64], mid: String)
    /// The codecs that a section may receive.
    func receivingCodecs(mid: String) -> [RTPCodec]
    func requestKeyFrame(mid: String)
    /// How far the viewer must turn the section's pictures.
    func setRotation(_ rotation: PictureRotation, mid: String)
    func close()
}

extension Peer: ViewerPeer {}

/// Makes the viewers' peer connections.
struct ViewerPeers: Sendable {
    let hostAddresses: [SocketAddress]

    /// Called on the camera's event loop. Events are delivered there too, but not during this call.
    let make: @Sendable (PeerConfiguration, _ onEvent: @escaping (PeerEvent) -> Void) throws(IoTError) -> any ViewerPeer

    init(socket: PeerSocket, certificates: PeerCertificatePool) {
        self.init(hostAddresses: socket.hostAddresses) { configuration, onEvent throws(IoTError) in
            try socket.makePeer(configuration: configuration, certificate: certificates.current, onEvent: onEvent)
        }
    }

    init(
        hostAddresses: [SocketAddress],
        make:
            @escaping @Sendable (
                PeerConfiguration, _ onEvent: @escaping (PeerEvent) -> Void
            ) throws(IoTError) -> any ViewerPeer
    ) {
        self.hostAddresses = hostAddresses
        self.make = make
    }
}
