import NIOCore

@testable import PeerTransport

/// A small STUN and TURN server for the virtual network. It applies RFC 8656's lifetimes: without renewal, allocations,
/// permissions and channels expire.
struct VirtualTURNServer {
    enum Output {
        case client(ByteBuffer, Client)
        /// Sent from a relay's address.
        case peer(ByteBuffer, from: SocketAddress, to: SocketAddress)
    }

    /// The client's side of the five-tuple.
    struct Client: Hashable {
        var address: SocketAddress
        var isStream: Bool
    }

    struct Allocation {
        var relay: SocketAddress
        var expires: NIODeadline
        var permissions: [[UInt8]: NIODeadline] = [:]
        var channels: [UInt16: (peer: SocketAddress, expires: NIODeadline)] = [:]
    }

    let address: SocketAddress
    var username = "user"
    var password = "secret"
    var realm: STUNText = "example.org"
    /// After this time the nonce is stale, and requests are answered with 438.
    var nonceLifetime = TimeAmount.minutes(10)
    var offersSHA256 = false
    var allocations: [Client: Allocation] = [:]
    /// Replaces the server's response; `nil` for its own response.
    var override: ((STUNMessage) -> STUNMessage?)?
    var deleted = 0
    var requests: [UInt16: Int] = [:]
    private var decoders: [Client: TURNStreamDecoder] = [:]
    private var nextPort = 49_152
    private var outputs: [Output] = []

    init(address: SocketAddress) {
        self.address = address
    }

    // MARK: Input from clients

    mutating func receive(_ bytes: ByteBuffer, from client: Client, at now: NIODeadline) throws -> [Output] {
        outputs = []
        if client.isStream {
            var messages: [ByteBuffer] = []
            _ = decoders[client, default: TURNStreamDecoder()].receive(bytes) { messages.append($0) }
            for message in messages { try take(message, from: client, at: now) }
        } else {
            try take(bytes, from: client, at: now)
        }
        return outputs
    }

    private mutating func take(_ bytes: ByteBuffer, from client: Client, at now: NIODeadline) throws {
        guard let first = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return }
        if first & 0xF0 == 0x40 { return takeChannelData(bytes, from: client, at: now) }
        guard let message = try? STUNMessage(parsing: bytes) else { return }
        requests[message.method, default: 0] += 1
        if let answer = override?(message) { return reply(answer, to: client) }
        if message.method == STUNMessage.bindingMethod {
            return reply(respond(to: message, [.xorMappedAddress(client.address)]), to: client)
        }
        if message.method == STUNMessage.sendMethod {
            guard let peer = message.peerAddress, let data = message.data, let allocation = allocations[client],
                isPermitted(peer, allocation, at: now)
            else { return }
            return outputs.append(.peer(data, from: allocation.relay, to: peer))
        }
        try takeRequest(message, from: client, at: now)
    }

    private var nonceBase: String { offersSHA256 ? "obMatJos2gAAA" : "" }

    private func nonce(at now: NIODeadline) -> [UInt8] {
        let period = now.uptimeNanoseconds / UInt64(nonceLifetime.nanoseconds)
        return Array("\(nonceBase)nonce-\(period)".utf8)
    }

    private static let algorithms: [UInt8] = [0, 2, 0, 0, 0, 1, 0, 0]

    private mutating func takeRequest(_ message: STUNMessage, from client: Client, at now: NIODeadline) throws {
        var challenge: [STUNAttribute] = [.realm(realm), .nonce(nonce(at: now))]
        if offersSHA256 { challenge.append(.passwordAlgorithms(Self.algorithms)) }
        let key = MessageIntegrity.longTermKey(
            username: username, realm: realm, password: password, algorithm: offersSHA256 ? .sha256 : .md5)
        guard message.hasIntegrity else {
            return reply(fail(message, 401, "Unauthorized", challenge), to: client)
        }
        guard message.username == STUNText(username), message.isAuthentic(key: key, by: offersSHA256 ? .sha256 : .sha1)
        else {
            return reply(fail(message, 401, "Unauthorized", challenge), to: client)
        }
        guard message.nonce == nonce(at: now) else {
            return reply(fail(message, 438, "Stale Nonce", challenge), to: client)
        }
        let answer = try process(message, from: client, at: now)
        outputs.append(
            .client(answer.datagram(key: key, algorithm: offersSHA256 ? .sha256 : .sha1), client))
    }

    private mutating func process(
        _ message: STUNMessage, from client: Client, at now: NIODeadline
    ) throws -> STUNMessage {
        if let allocation = allocations[client], now >= allocation.expires { allocations[client] = nil }
        if message.method == STUNMessage.allocateMethod {
            guard allocations[client] == nil else { return fail(message, 437, "Allocation Mismatch") }
            nextPort += 1
            var relay = address
            relay.port = nextPort
            allocations[client] = Allocation(relay: relay, expires: now + .minutes(10))
            return respond(
                to: message, [.xorRelayedAddress(relay), .xorMappedAddress(client.address), .lifetime(600)])
        }
        guard var allocation = allocations[client] else { return fail(message, 437, "Allocation Mismatch") }
        switch message.method {
        case STUNMessage.refreshMethod:
            if message.lifetime == 0 {
                allocations[client] = nil
                deleted += 1
                return respond(to: message, [.lifetime(0)])
            }
            allocation.expires = now + .minutes(10)
            allocations[client] = allocation
            return respond(to: message, [.lifetime(600)])
        case STUNMessage.createPermissionMethod:
            guard let peer = message.peerAddress else { return fail(message, 400, "Bad Request") }
            allocation.permissions[peer.packedIPBytes] = now + .minutes(5)
        case STUNMessage.channelBindMethod:
            guard let peer = message.peerAddress, let number = message.channelNumber,
                (0x4000...0x4FFF).contains(number)
            else { return fail(message, 400, "Bad Request") }
            allocation.channels[number] = (peer, now + .minutes(10))
            allocation.permissions[peer.packedIPBytes] = now + .minutes(5)
        default:
            return fail(message, 400, "Bad Request")
        }
        allocations[client] = allocation
        return respond(to: message, [])
    }

    private mutating func takeChannelData(_ bytes: ByteBuffer, from client: Client, at now: NIODeadline) {
        var bytes = bytes
        guard let number = bytes.readInteger(as: UInt16.self), let length = bytes.readInteger(as: UInt16.self),
            let payload = bytes.readSlice(length: Int(length)), let allocation = allocations[client],
            let channel = allocation.channels[number], now < channel.expires,
            isPermitted(channel.peer, allocation, at: now)
        else { return }
        outputs.append(.peer(payload, from: allocation.relay, to: channel.peer))
    }

    private func isPermitted(_ peer: SocketAddress, _ allocation: Allocation, at now: NIODeadline) -> Bool {
        guard now < allocation.expires, let until = allocation.permissions[peer.packedIPBytes] else { return false }
        return now < until
    }

    // MARK: Input from peers

    /// Takes a datagram sent to a relay's address.
    func relayed(_ bytes: ByteBuffer, to relay: SocketAddress, from peer: SocketAddress, at now: NIODeadline)
        -> [Output]
    {
        guard let (client, allocation) = allocations.first(where: { $0.value.relay == relay }),
            isPermitted(peer, allocation, at: now)
        else { return [] }
        if let channel = allocation.channels.first(where: { $0.value.peer == peer && now < $0.value.expires }) {
            var message = ByteBuffer(integer: channel.key)
            message.writeInteger(UInt16(bytes.readableBytes))
            message.writeImmutableBuffer(bytes)
            if client.isStream { message.writeRepeatingByte(0, count: -bytes.readableBytes & 3) }
            return [.client(message, client)]
        }
        let indication = STUNMessage(
            .indication, method: STUNMessage.dataMethod, transactionID: STUNTransactionID(high: 1, low: 2),
            attributes: [.xorPeerAddress(peer), .data(bytes)])
        return [.client(indication.datagram(), client)]
    }

    // MARK: Responses

    private mutating func reply(_ message: STUNMessage, to client: Client) {
        outputs.append(.client(message.datagram(), client))
    }

    private func respond(to message: STUNMessage, _ attributes: [STUNAttribute]) -> STUNMessage {
        STUNMessage(
            .successResponse, method: message.method, transactionID: message.transactionID, attributes: attributes)
    }

    private func fail(
        _ message: STUNMessage, _ code: Int, _ reason: String, _ attributes: [STUNAttribute] = []
    ) -> STUNMessage {
        STUNMessage(
            .errorResponse, method: message.method, transactionID: message.transactionID,
            attributes: [.errorCode(code, reason: reason)] + attributes)
    }
}
