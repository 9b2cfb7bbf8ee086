import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

/// The client with servers that follow RFC 8656 and with servers that do not.
@Suite struct TURNClientTests {
    static let clientAddress = VirtualTURNServer.Client(address: address("198.51.100.9", 7000), isStream: false)
    static let peer = address("203.0.113.5", 9000)

    static func address(_ text: String, _ port: Int) -> SocketAddress {
        do {
            return try SocketAddress(ipAddress: text, port: port)
        } catch {
            fatalError("\(text) is not an address")
        }
    }

    /// A client and a server, connected directly.
    struct Link {
        var client: TURNClient
        var server: VirtualTURNServer
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var events: [TURNClient.Event] = []
        var sent = 0
        var toPeer: [ByteBuffer] = []
        /// Replaces the server's responses.
        var answer: ((STUNMessage) -> ByteBuffer?)?

        init(isStream: Bool = false, wantsIPv6: Bool = false, adjust: (inout VirtualTURNServer) -> Void = { _ in }) {
            client = TURNClient(
                configuration: TURNClient.Configuration(
                    username: "user", credential: "secret", isStream: isStream, wantsIPv6: wantsIPv6),
                generator: SeededGenerator(seed: 5))
            server = VirtualTURNServer(address: address("192.0.2.100", 3478))
            adjust(&server)
        }

        mutating func start() throws {
            client.start(at: now)
            try exchange()
        }

        mutating func exchange() throws {
            var steps = 0
            while let output = client.poll() {
                steps += 1
                try #require(steps < 1_000)
                switch output {
                case .event(let event): events.append(event)
                case .transmit(let bytes):
                    sent += 1
                    if let answer {
                        guard let message = try? STUNMessage(parsing: bytes), let reply = answer(message) else {
                            continue
                        }
                        client.receive(reply, at: now)
                        continue
                    }
                    for output in try server.receive(bytes, from: clientAddress, at: now) {
                        switch output {
                        case .client(let reply, _): client.receive(reply, at: now)
                        case .peer(let payload, _, _): toPeer.append(payload)
                        }
                    }
                }
            }
        }

        /// Advances the time, and handles every deadline.
        mutating func pass(_ time: TimeAmount) throws {
            let end = now + time
            var steps = 0
            while let deadline = client.nextDeadline, deadline <= end {
                steps += 1
                try #require(steps < 1_000)
                now = max(now, deadline)
                client.handleTimeout(at: now)
                try exchange()
            }
            now = end
        }

        var isAllocated: Bool { client.state == .allocated }

        var failure: TURNFailure? {
            for case .failed(let failure) in events { return failure }
            return nil
        }
    }

    static func reply(_ message: STUNMessage, _ attributes: [STUNAttribute], isError: Bool = true) -> ByteBuffer {
        STUNMessage(
            isError ? .errorResponse : .successResponse, method: message.method,
            transactionID: message.transactionID, attributes: attributes
        ).datagram()
    }

    // MARK: Correct servers

    @Test("A relay is allocated with MD5 and with SHA-256", arguments: [false, true])
    func allocates(offersSHA256: Bool) throws {
        var link = Link { $0.offersSHA256 = offersSHA256 }
        try link.start()
        #expect(link.isAllocated)
        #expect(
            link.events == [.allocated([Self.address("192.0.2.100", 49_153)], mapped: Self.clientAddress.address)])
        #expect(link.sent == 2)
    }

    @Test("Data wait for the permission, are sent as indications, and through a channel once it is bound")
    func sends() throws {
        var link = Link()
        try link.start()
        link.client.send(ByteBuffer(string: "first"), to: Self.peer, at: link.now)
        #expect(link.toPeer.isEmpty)
        try link.exchange()
        #expect(link.toPeer.map { String(buffer: $0) } == ["first"])
        link.client.bindChannel(to: Self.peer, at: link.now)
        try link.exchange()
        link.client.send(ByteBuffer(string: "second"), to: Self.peer, at: link.now)
        guard case .transmit(let bytes)? = link.client.poll() else {
            Issue.record("nothing was sent")
            return
        }
        #expect(bytes.getInteger(at: 0, as: UInt16.self) == 0x4000)
        #expect(bytes.readableBytes == 4 + 6)
        // Over a stream it is padded to four bytes.
        var stream = Link(isStream: true)
        try stream.start()
        stream.client.bindChannel(to: Self.peer, at: stream.now)
        try stream.exchange()
        stream.client.send(ByteBuffer(string: "second"), to: Self.peer, at: stream.now)
        guard case .transmit(let padded)? = stream.client.poll() else {
            Issue.record("nothing was sent")
            return
        }
        #expect(padded.readableBytes == 4 + 8)
    }

    @Test("For hours the allocation, its permissions and channels are renewed in time, with stale nonces")
    func keepsAlive() throws {
        var link = Link { $0.nonceLifetime = .minutes(3) }
        try link.start()
        link.client.permit(Self.address("203.0.113.6", 1), at: link.now)
        link.client.bindChannel(to: Self.peer, at: link.now)
        try link.exchange()
        for minute in 1...180 {
            try link.pass(.minutes(1))
            #expect(link.isAllocated)
            link.client.send(ByteBuffer(string: "\(minute)"), to: Self.peer, at: link.now)
            link.client.send(ByteBuffer(string: "\(minute)"), to: Self.address("203.0.113.6", 1), at: link.now)
            try link.exchange()
            try #require(link.toPeer.count == 2 * minute)
        }
        // Each is renewed a minute before its end, and a new nonce costs one more request.
        #expect(link.server.requests[STUNMessage.channelBindMethod, default: 0] <= 45)
        #expect(link.server.requests[STUNMessage.refreshMethod, default: 0] <= 50)
    }

    @Test("Closing deletes the allocation on the server")
    func closes() throws {
        var link = Link()
        try link.start()
        link.client.close()
        try link.exchange()
        #expect(link.server.deleted == 1)
        #expect(link.server.allocations.isEmpty)
        #expect(link.client.nextDeadline == nil)
    }

    @Test("A lost request is sent again, a limited number of times")
    func retransmits() throws {
        var link = Link()
        link.answer = { _ in nil }
        try link.start()
        try link.pass(.minutes(2))
        #expect(link.sent == 6)
        #expect(link.failure?.code == 701)
        #expect(link.client.nextDeadline == nil)
        // A stream loses nothing: one request, one wait.
        var stream = Link(isStream: true)
        stream.answer = { _ in nil }
        try stream.start()
        try stream.pass(.minutes(2))
        #expect(stream.sent == 1)
        #expect(stream.failure?.code == 701)
    }

    @Test("Both families are requested in one allocation, and a single one when the server does not support it")
    func families() throws {
        var asked: [[STUNAttribute]] = []
        var link = Link(wantsIPv6: true)
        link.answer = { message in
            asked.append(message.attributes)
            let isLast = asked.count == 3
            return isLast
                ? Self.reply(
                    message, [.xorRelayedAddress(Self.address("2001:db8::1", 5)), .lifetime(600)], isError: false)
                : Self.reply(message, [.errorCode(440, reason: "Address Family not Supported")])
        }
        try link.start()
        #expect(link.isAllocated)
        #expect(
            asked == [
                [.requestedTransport(17), .additionalAddressFamily(.ipv6)], [.requestedTransport(17)],
                [.requestedTransport(17), .requestedAddressFamily(.ipv6)],
            ])
        var both = Link(wantsIPv6: true)
        let relays = [Self.address("192.0.2.100", 5), Self.address("2001:db8::1", 5)]
        both.answer = { message in
            Self.reply(message, relays.map { .xorRelayedAddress($0) } + [.lifetime(600)], isError: false)
        }
        try both.start()
        #expect(both.events == [.allocated(relays, mapped: nil)])
    }

    // MARK: Malicious servers

    @Test("A wrong password ends with 401 after one attempt")
    func wrongPassword() throws {
        var link = Link { $0.password = "other" }
        try link.start()
        #expect(link.failure?.code == 401)
        #expect(link.sent == 2)
    }

    @Test("A server that changes its realm every time ends with 401 after a few attempts")
    func changingRealm() throws {
        var link = Link()
        var count = 0
        link.answer = { message in
            count += 1
            return Self.reply(
                message, [.errorCode(401, reason: "Unauthorized"), .realm("realm \(count)"), .nonce([1])])
        }
        try link.start()
        #expect(link.failure?.code == 401)
        #expect(link.sent == 1 + TURNClient.maximumChallenges)
    }

    @Test("Endless 438 ends the allocation, and each later request, after a few attempts")
    func endlessStaleNonce() throws {
        var link = Link()
        var count: UInt8 = 0
        let stale: (STUNMessage) -> ByteBuffer? = { message in
            count &+= 1
            return Self.reply(
                message, [.errorCode(438, reason: "Stale Nonce"), .realm("example.org"), .nonce([count])])
        }
        link.answer = stale
        try link.start()
        #expect(link.failure?.code == 438)
        #expect(link.sent == 1 + TURNClient.maximumChallenges)

        var later = Link()
        try later.start()
        later.answer = stale
        later.client.permit(Self.peer, at: later.now)
        try later.exchange()
        #expect(later.isAllocated)
        #expect(later.events.last == .refused(Self.peer, TURNFailure(code: 438, text: "Stale Nonce")))
        try later.pass(.minutes(9))
        #expect(later.failure?.code == 438)
    }

    @Test("A success response without the right hash is ignored")
    func forgedSuccess() throws {
        var link = Link()
        link.answer = { message in
            guard message.hasIntegrity else {
                return Self.reply(
                    message, [.errorCode(401, reason: "Unauthorized"), .realm("example.org"), .nonce([1])])
            }
            return Self.reply(
                message, [.xorRelayedAddress(Self.peer), .lifetime(600)], isError: false)
        }
        try link.start()
        #expect(!link.isAllocated)
        try link.pass(.minutes(1))
        #expect(link.failure?.code == 701)
    }

    @Test("An unusable relay address or a lifetime of zero ends the client", arguments: [0, 1, 2])
    func uselessSuccess(kind: Int) throws {
        var link = Link()
        link.answer = { message in
            // Without a challenge nothing needs to be signed.
            let address = kind == 0 ? Self.address("0.0.0.0", 5) : Self.peer
            var attributes: [STUNAttribute] = [.lifetime(kind == 2 ? 0 : 600)]
            if kind != 1 { attributes.append(.xorRelayedAddress(address)) }
            return Self.reply(message, attributes, isError: false)
        }
        try link.start()
        #expect(link.failure?.code == 701)
        #expect(link.client.nextDeadline == nil)
    }

    @Test("A redirect ends this client with the other server's address; without a usable address it is a failure")
    func redirects() throws {
        let other = Self.address("192.0.2.101", 3478)
        var link = Link()
        link.answer = { Self.reply($0, [.errorCode(300, reason: "Try Alternate"), .alternateServer(other)]) }
        try link.start()
        #expect(link.events == [.redirected(other)])
        var nowhere = Link()
        nowhere.answer = { message in
            Self.reply(
                message,
                [.errorCode(300, reason: "Try Alternate"), .alternateServer(Self.address("224.0.0.1", 1))])
        }
        try nowhere.start()
        #expect(nowhere.failure?.code == 300)
    }

    @Test("Truncated and foreign ChannelData, unknown channels and strangers' indications yield nothing")
    func hostileData() throws {
        var link = Link()
        try link.start()
        link.client.bindChannel(to: Self.peer, at: link.now)
        try link.exchange()
        link.events = []
        let whole: [UInt8] = [0x40, 0x00, 0, 4, 1, 2, 3, 4]
        for length in 0..<whole.count {
            link.client.receive(ByteBuffer(bytes: whole.prefix(length)), at: link.now)
        }
        link.client.receive(ByteBuffer(bytes: [0x40, 0x01, 0, 1, 1]), at: link.now)
        link.client.receive(ByteBuffer(bytes: [0x4F, 0xFF, 0, 1, 1]), at: link.now)
        for peer in [Self.address("203.0.113.77", 1), nil] {
            var attributes: [STUNAttribute] = [.data(ByteBuffer(string: "x"))]
            if let peer { attributes.append(.xorPeerAddress(peer)) }
            let indication = STUNMessage(
                .indication, method: STUNMessage.dataMethod,
                transactionID: STUNTransactionID(high: 1, low: 1), attributes: attributes)
            link.client.receive(indication.datagram(), at: link.now)
        }
        try link.exchange()
        #expect(link.events.isEmpty)
        link.client.receive(ByteBuffer(bytes: whole), at: link.now)
        try link.exchange()
        #expect(link.events == [.received(ByteBuffer(bytes: [1, 2, 3, 4]), from: Self.peer)])
    }

    @Test("Random bytes and random responses never trap")
    func randomAnswers() throws {
        for seed in 1...200 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            var link = Link(isStream: seed % 2 == 0)
            let codes = [300, 400, 401, 403, 420, 437, 438, 440, 441, 442, 443, 486, 508, 699]
            link.answer = { message in
                switch Int.random(in: 0..<4, using: &random) {
                case 0: return ByteBuffer(bytes: random.bytes(Int.random(in: 0..<60, using: &random)))
                case 1: return nil
                case 2:
                    let code = codes.randomElement(using: &random) ?? 400
                    return Self.reply(
                        message,
                        [
                            .errorCode(code, reason: ""), .realm("r"), .nonce(random.bytes(4)),
                            .alternateServer(Self.peer),
                        ])
                default:
                    return Self.reply(
                        message,
                        [.xorRelayedAddress(Self.peer), .lifetime(UInt32.random(in: 0 ... .max, using: &random))],
                        isError: false)
                }
            }
            try link.start()
            link.client.send(ByteBuffer(string: "x"), to: Self.peer, at: link.now)
            link.client.bindChannel(to: Self.peer, at: link.now)
            try link.exchange()
            try link.pass(.minutes(30))
        }
    }

    @Test("However many peers are requested, permissions, channels and waiting data are bounded")
    func bounded() throws {
        var link = Link()
        try link.start()
        for index in 0..<1000 {
            let peer = Self.address("203.0.\(index / 250).\(1 + index % 250)", 9)
            link.client.send(ByteBuffer(string: "x"), to: peer, at: link.now)
            link.client.bindChannel(to: peer, at: link.now)
        }
        #expect(link.client.permissions.count <= TURNClient.maximumPermissions)
        #expect(link.client.channels.count <= TURNClient.maximumChannels)
        #expect(link.client.held.count <= TURNClient.maximumHeld)
    }
}
