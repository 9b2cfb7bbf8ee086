public import IoTCore
import NIOCore

// Name resolution, relays and restarts.
extension Peer {
    /// See `PeerConnection.createRestartOffer`.
    public func createRestartOffer() throws(IoTError) -> SessionDescription {
        let offer = try connection.createRestartOffer()
        noteUfrag()
        begin()
        return offer
    }

    /// See `PeerConnection.isGatheringComplete`.
    public var isGatheringComplete: Bool { connection.isGatheringComplete }

    /// See `PeerConnection.unansweredServers`.
    public var unansweredServers: Set<String> { connection.unansweredServers }

    /// See `PeerConnection.answeredServers`.
    public var answeredServers: Set<String> { connection.answeredServers }

    /// Registers the new user name fragment after an ICE restart. Consent checks of the peer still use the old one.
    func noteUfrag() {
        guard iceUfrags.last != connection.iceUfrag else { return }
        iceUfrags.append(connection.iceUfrag)
        if iceUfrags.count > Self.maximumUfrags { socket.remove(self, iceUfrag: iceUfrags.removeFirst()) }
        socket.add(self)
    }

    func perform(_ request: NetworkRequest) {
        let network =
            network
            ?? PeerNetwork(eventLoop: eventLoop, authorities: connection.configuration.ice.certificateAuthorities) {
                [weak self] outcome in self?.take(outcome)
            }
        self.network = network
        network.perform(request)
    }

    private func take(_ outcome: PeerNetwork.Outcome) {
        let now = eventLoop.now
        switch outcome {
        case .resolved(let name, let addresses): connection.resolved(name, to: addresses, at: now)
        case .linkOpened(let link): connection.linkOpened(link, at: now)
        case .linkReceived(let link, let bytes): connection.linkReceived(link, bytes, at: now)
        case .linkClosed(let link, let reason): connection.linkClosed(link, reason: reason, at: now)
        }
        pump()
    }
}
