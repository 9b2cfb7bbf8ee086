import NIOCore

// The steps from a URL to a server-reflexive address or a relay.
extension ICEGatherer {
    mutating func beginDue(at now: NIODeadline) {
        for index in attempts.indices {
            guard case .waiting(let time) = attempts[index].state, now >= time else { continue }
            attempts[index].state = .resolving
            let url = attempts[index].url
            if let address = try? SocketAddress(ipAddress: url.host, port: url.port) {
                resolved(attempt: index, to: [address], at: now)
            } else if !attempts.indices.contains(where: {
                $0 != index && attempts[$0].state == .resolving && attempts[$0].url.host == url.host
            }) {
                outputs.append(.request(.resolve(url.host)))
            }
        }
    }

    /// Takes the addresses of a server's name; empty when it has none. Returns true when the gatherer asked for it.
    mutating func resolved(_ name: String, to addresses: [SocketAddress], at now: NIODeadline) -> Bool {
        let waiting = attempts.indices.filter {
            attempts[$0].state == .resolving && attempts[$0].url.host == name
        }
        for index in waiting { resolved(attempt: index, to: addresses, at: now) }
        finishIfDone()
        return !waiting.isEmpty
    }

    private mutating func resolved(attempt index: Int, to addresses: [SocketAddress], at now: NIODeadline) {
        let url = attempts[index].url
        var usable: [SocketAddress] = []
        for var address in addresses {
            address.port = url.port
            if configuration.refusesLocalServers, address.isThisMachineOrLink { continue }
            address = address.unmapped
            guard address.isReachableUnicast, url.isTURN || (address.isIPv4 ? hasIPv4 : hasIPv6) else { continue }
            if !usable.contains(address) { usable.append(address) }
        }
        attempts[index].state = .active
        guard !usable.isEmpty else {
            attempts[index].failure = .noAnswer("the server's name has no reachable address")
            return fail(attempt: index, at: now)
        }
        attempts[index].addresses = Array(usable.prefix(Self.maximumAddresses))
        if configuration.transportPolicy == .all, url.transport == .udp {
            for isIPv4 in [true, false] where isIPv4 ? hasIPv4 : hasIPv6 {
                if let server = usable.first(where: { $0.isIPv4 == isIPv4 }) {
                    bind(attempt: index, to: server, at: now)
                }
            }
        }
        if url.isTURN {
            openNext(attempt: index, at: now)
        } else if !bindings.values.contains(where: { $0.attempt == index }) {
            attempts[index].state = .done
        }
    }

    // MARK: Server-reflexive addresses

    private mutating func bind(attempt: Int, to server: SocketAddress, at now: NIODeadline) {
        guard !bindings.values.contains(where: { $0.server == server }) else { return }
        let id = STUNTransactionID(using: &generator)
        let datagram = STUNMessage(.request, transactionID: id).datagram()
        bindings[id] = Binding(
            attempt: attempt, server: server, datagram: datagram, wait: configuration.retransmission,
            nextTransmission: now + configuration.retransmission)
        outputs.append(.transmit(datagram, to: server))
    }

    func awaitsResponse(to id: STUNTransactionID) -> Bool {
        bindings[id] != nil
    }

    /// Takes a server's response to a Binding request. Without integrity, it must come from where the request went.
    mutating func receiveBinding(_ message: STUNMessage, from source: SocketAddress, at now: NIODeadline) -> Bool {
        guard let binding = bindings[message.transactionID], binding.server == source else { return false }
        bindings[message.transactionID] = nil
        attempts[binding.attempt].hasAnswered = true
        let url = attempts[binding.attempt].url
        if message.messageClass == .successResponse, message.unknownRequiredAttributes.isEmpty,
            let mapped = message.mappedAddress, mapped.isReachableUnicast, mapped.isIPv4 == source.isIPv4
        {
            outputs.append(.mapped(mapped, server: attempts[binding.attempt].server, url: url.text))
        } else if !url.isTURN {
            attempts[binding.attempt].failure = TURNFailure(
                code: message.errorCode ?? TURNFailure.noAnswerCode,
                text: message.errorReason ?? "the STUN server returned no usable address")
            fail(attempt: binding.attempt, at: now)
        }
        if !url.isTURN, !bindings.values.contains(where: { $0.attempt == binding.attempt }) {
            attempts[binding.attempt].state = .done
        }
        finishIfDone()
        return true
    }

    // MARK: Relays

    private mutating func openNext(attempt index: Int, at now: NIODeadline) {
        guard !attempts[index].addresses.isEmpty else { return fail(attempt: index, at: now) }
        makeLink(attempt: index, to: attempts[index].addresses.removeFirst())
    }

    mutating func fail(attempt index: Int, at now: NIODeadline) {
        guard attempts[index].state != .done else { return }
        attempts[index].state = .done
        outputs.append(.failed(url: attempts[index].url.text, address: nil, attempts[index].failure))
        // The next transport to the same relay starts at once.
        let server = attempts[index].server
        if let next = attempts.indices.first(where: {
            if case .waiting = attempts[$0].state { attempts[$0].server == server } else { false }
        }) {
            attempts[next].state = .waiting(now)
            beginDue(at: now)
        }
    }

    mutating func linkOpened(_ id: Int, at now: NIODeadline) {
        guard links[id] != nil else { return }
        links[id]?.isOpen = true
        links[id]?.client.start(at: now)
        drain(link: id, at: now)
    }

    mutating func linkReceived(_ id: Int, _ bytes: ByteBuffer, at now: NIODeadline) {
        guard let endpoint = links[id]?.endpoint else { return }
        if endpoint.transport == .udp {
            links[id]?.client.receive(bytes, at: now)
        } else {
            var messages: [ByteBuffer] = []
            let isReadable = links[id]?.decoder.receive(bytes) { messages.append($0) } ?? false
            for message in messages { links[id]?.client.receive(message, at: now) }
            if !isReadable { links[id]?.client.fail(.noAnswer("the server does not speak TURN")) }
        }
        drain(link: id, at: now)
        finishIfDone()
    }

    /// The server closed the link, or it could not be opened.
    mutating func linkClosed(_ id: Int, reason: String, at now: NIODeadline) {
        links[id]?.client.fail(.noAnswer(reason))
        drain(link: id, at: now)
        finishIfDone()
    }

    /// Carries out the output of a link's client.
    mutating func drain(link id: Int, at now: NIODeadline) {
        while let output = links[id]?.client.poll() {
            switch output {
            case .transmit(let bytes):
                outputs.append(.request(.send(bytes, link: id)))
            case .event(.received(let payload, let peer)):
                outputs.append(.received(payload, from: peer, link: id))
            case .event(.refused(let peer, _)):
                outputs.append(.refused(peer, link: id))
            case .event(let event):
                guard let link = links[id] else { return }
                settle(event, id, link, at: now)
            }
        }
    }

    /// Handles the rare events that change a link's state.
    private mutating func settle(_ event: TURNClient.Event, _ id: Int, _ link: Link, at now: NIODeadline) {
        switch event {
        case .received, .refused: break
        case .allocated(let addresses, let mapped):
            allocated(id, link, addresses, mapped: mapped)
        case .redirected(let other):
            close(link: id)
            redirected(link, to: other, at: now)
        case .failed(let failure):
            close(link: id)
            failed(id, link, failure, at: now)
        }
    }

    private mutating func allocated(
        _ id: Int, _ link: Link, _ addresses: [SocketAddress], mapped: SocketAddress?
    ) {
        links[id]?.isAllocated = true
        guard attempts.indices.contains(link.attempt) else { return }
        attempts[link.attempt].state = .done
        attempts[link.attempt].hasAnswered = true
        let attempt = attempts[link.attempt]
        outputs.append(
            .relayed(
                Relay(
                    link: id, addresses: addresses, mapped: mapped, transport: link.endpoint.transport,
                    server: attempt.server, url: attempt.url.text)))
        // The less direct transports to the same relay are no longer needed.
        for index in attempts.indices
        where index > link.attempt && attempts[index].server == attempt.server && attempts[index].state != .done {
            attempts[index].state = .done
            for other in links.keys where links[other]?.attempt == index { close(link: other) }
        }
    }

    private mutating func redirected(_ link: Link, to other: SocketAddress, at now: NIODeadline) {
        guard attempts.indices.contains(link.attempt) else { return }
        // A redirect over TLS is refused, because the other server's certificate needs a name to check (RFC 8489 §10).
        // A remote server may not redirect us to addresses that only this machine or its link can reach.
        let isWithinReach =
            !other.isThisMachineOrLink
            || link.endpoint.address.isThisMachineOrLink && !configuration.refusesLocalServers
        let isAllowed =
            attempts[link.attempt].redirects < Self.maximumRedirects && link.endpoint.transport != .tls
            && other != link.endpoint.address && isWithinReach
        guard isAllowed else {
            attempts[link.attempt].failure = TURNFailure(
                code: 300, text: "the TURN server redirects too often, or to an address that is not allowed")
            return openNext(attempt: link.attempt, at: now)
        }
        attempts[link.attempt].redirects += 1
        makeLink(attempt: link.attempt, to: other)
    }

    private mutating func failed(_ id: Int, _ link: Link, _ failure: TURNFailure, at now: NIODeadline) {
        if link.isAllocated { outputs.append(.lost(link: id)) }
        guard attempts.indices.contains(link.attempt), attempts[link.attempt].state == .active else { return }
        attempts[link.attempt].failure = failure
        if failure.code != TURNFailure.noAnswerCode { attempts[link.attempt].hasAnswered = true }
        // 437: the server remembers another allocation of our port. A new link has another port.
        if failure.code == 437, !attempts[link.attempt].hasRetried {
            attempts[link.attempt].hasRetried = true
            return makeLink(attempt: link.attempt, to: link.endpoint.address)
        }
        openNext(attempt: link.attempt, at: now)
    }

    // MARK: Use of a relay

    mutating func send(_ payload: ByteBuffer, to peer: SocketAddress, link: Int, at now: NIODeadline) {
        links[link]?.client.send(payload, to: peer, at: now)
        drain(link: link, at: now)
    }

    mutating func bindChannel(to peer: SocketAddress, link: Int, at now: NIODeadline) {
        links[link]?.client.bindChannel(to: peer, at: now)
        drain(link: link, at: now)
    }

    mutating func retain(only peers: [SocketAddress], link: Int) {
        links[link]?.client.retain(only: peers)
    }
}
