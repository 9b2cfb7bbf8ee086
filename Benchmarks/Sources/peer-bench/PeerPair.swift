import NIOCore
import PeerTransport

/// Two connections in memory: each receives the other's datagrams immediately. The caller sets the time.
struct PeerPair {
    let peers: [PeerConnection]
    private let addresses: [SocketAddress]
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// - Parameter configure: Changes the configuration of the peer with this index.
    init(configure: (Int, inout PeerConfiguration) -> Void) throws {
        let addresses = try ["192.0.2.1", "192.0.2.2"].map { try SocketAddress(ipAddress: $0, port: 4000) }
        let start = now
        peers = try (0...1).map { index in
            var configuration = PeerConfiguration(hostAddresses: [addresses[index]], isControlling: index == 0)
            configure(index, &configuration)
            return PeerConnection(
                configuration: configuration, certificate: try PeerCertificate.generate(), now: start)
        }
        self.addresses = addresses
    }

    func connect() throws {
        let offer = try peers[0].createOffer()
        try peers[0].setAnswer(try peers[1].createAnswer(to: offer))
    }

    /// Exchanges both peers' outputs once.
    ///
    /// - Returns: Whether there was a datagram, and the next deadline.
    @inline(__always)
    func exchange(_ onEvent: (_ index: Int, PeerEvent) -> Void) -> (hasMoved: Bool, due: NIODeadline) {
        var result = (hasMoved: false, due: NIODeadline.distantFuture)
        for index in 0...1 {
            poll: while let output = peers[index].poll() {
                switch output {
                case .transmit(let datagram, _):
                    result.hasMoved = true
                    peers[1 - index].receive(datagram, from: addresses[index], at: now)
                case .event(let event): onEvent(index, event)
                case .network: continue
                case .timeout(let deadline):
                    result.due = min(result.due, deadline)
                    break poll
                }
            }
        }
        return result
    }

    func handleTimeouts() {
        for peer in peers { peer.handleTimeout(at: now) }
    }
}
