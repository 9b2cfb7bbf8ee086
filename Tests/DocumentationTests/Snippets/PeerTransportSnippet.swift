import IoTCore
import NIOCore
import PeerTransport

enum PeerTransportSnippet {
    // snippet
    /// Offers a connection with a data channel. The offer's text goes to the peer, over any connection; its answer to
    /// `setAnswer`.
    static func offer(
        _ socket: PeerSocket, _ certificate: PeerCertificate, onMessage: @escaping (DataChannelMessage) -> Void
    ) throws -> (peer: Peer, offer: String) {
        var configuration = PeerConfiguration(hostAddresses: socket.hostAddresses, isControlling: true)
        configuration.dataChannels = DataChannelConfiguration()
        let peer = try socket.makePeer(configuration: configuration, certificate: certificate) { event in
            if case .dataChannelMessage(_, let message) = event { onMessage(message) }
        }
        try peer.openDataChannel(label: "greetings")
        return (peer, try peer.createOffer().text)
    }
    // end
}
