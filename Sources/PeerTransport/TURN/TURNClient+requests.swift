import NIOCore

// Requests to the server, and their retransmission.
extension TURNClient {
    mutating func request(_ kind: Request.Kind, challenges: Int = 0, at now: NIODeadline) {
        let id = makeID()
        var attributes: [STUNAttribute] = []
        let method: UInt16
        switch kind {
        case .allocate:
            method = STUNMessage.allocateMethod
            attributes = [.requestedTransport(17)]
            switch families.first {
            case .both: attributes.append(.additionalAddressFamily(.ipv6))
            case .ipv6: attributes.append(.requestedAddressFamily(.ipv6))
            // Without the attribute the relay is IPv4, which servers of RFC 5766 support, too.
            case .ipv4, nil: break
            }
        case .refresh:
            method = STUNMessage.refreshMethod
        case .permission(let peer):
            method = STUNMessage.createPermissionMethod
            attributes = [.xorPeerAddress(peer)]
        case .channel(let number, let peer):
            method = STUNMessage.channelBindMethod
            attributes = [.channelNumber(number), .xorPeerAddress(peer)]
        }
        let message = STUNMessage(.request, method: method, transactionID: id, attributes: attributes)
        let bytes = credential.datagram(message)
        let wait = configuration.isStream ? Self.streamTimeout : configuration.retransmission
        requests[id] = Request(
            kind: kind, bytes: bytes, wait: wait, nextTransmission: now + wait, isSigned: credential.hasChallenge,
            challenges: challenges)
        outputs.append(.transmit(bytes))
    }

    mutating func retransmit(at now: NIODeadline) {
        for (id, request) in requests where now >= request.nextTransmission {
            guard !configuration.isStream, request.transmissions < configuration.transmissions else {
                requests[id] = nil
                gaveUp(request.kind)
                continue
            }
            var again = request
            again.transmissions += 1
            again.wait = again.wait * 2
            again.nextTransmission = now + again.wait
            requests[id] = again
            outputs.append(.transmit(request.bytes))
        }
    }

    private mutating func gaveUp(_ kind: Request.Kind) {
        let failure = TURNFailure.noAnswer("the TURN server does not respond")
        switch kind {
        case .allocate, .refresh: fail(failure)
        case .permission(let peer): permissionRefused(peer, failure)
        case .channel(_, let peer): forgetChannel(of: peer)
        }
    }

    // MARK: Permissions and channels

    /// Requests a permission for a peer's address, which covers all its ports.
    mutating func permit(_ peer: SocketAddress, at now: NIODeadline) {
        let key = peer.packedIPBytes
        guard state == .allocated, permissions[key] == nil else { return }
        guard permissions.count < Self.maximumPermissions else {
            outputs.append(
                .event(.refused(peer, TURNFailure(code: 0, text: "there are too many permissions"))))
            return
        }
        permissions[key] = .requested
        request(.permission(peer), at: now)
    }

    func mayReceive(from peer: SocketAddress) -> Bool {
        switch permissions[peer.packedIPBytes] {
        case .granted: true
        // A datagram from the peer may overtake the server's response.
        case .requested: true
        case .refused, nil: false
        }
    }

    /// Binds a channel to the peer, which adds 4 bytes to each datagram instead of 36 or more.
    mutating func bindChannel(to peer: SocketAddress, at now: NIODeadline) {
        guard state == .allocated, channels[peer] == nil, channels.count < Self.maximumChannels,
            // 0x4000 to 0x4FFF (RFC 8656 §12); a number is never reused for another peer.
            let number = (0x4000...0x4FFF as ClosedRange<UInt16>).first(where: { peersByChannel[$0] == nil })
        else { return }
        channels[peer] = Channel(number: number)
        peersByChannel[number] = peer
        request(.channel(number, peer), at: now)
    }

    /// After a failed binding, Send indications are used. The number stays reserved.
    mutating func forgetChannel(of peer: SocketAddress) {
        channels[peer]?.isBound = false
        channels[peer]?.refreshAt = .distantFuture
    }

    mutating func permissionRefused(_ peer: SocketAddress, _ failure: TURNFailure) {
        let key = peer.packedIPBytes
        permissions[key] = .refused
        held.removeAll { $0.peer.packedIPBytes == key }
        outputs.append(.event(.refused(peer, failure)))
    }

    /// Stops renewing the permissions and channels of all other peers.
    mutating func retain(only peers: [SocketAddress]) {
        let keys = Set(peers.map(\.packedIPBytes))
        for key in permissions.keys where !keys.contains(key) { permissions[key] = nil }
        for (peer, channel) in channels where !peers.contains(peer) {
            channels[peer] = nil
            peersByChannel[channel.number] = nil
        }
    }
}
