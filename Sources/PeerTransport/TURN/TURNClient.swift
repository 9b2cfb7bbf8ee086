import NIOCore

/// The client side of one allocation on one TURN server (RFC 8656).
///
/// Owns no socket: `poll` returns messages for the server, and `receive` takes the server's, one at a time
/// (`TURNStreamDecoder` splits a stream into messages). It must have its own five-tuple, because the server identifies
/// an allocation by it. No message from a server can trap; the number of retries after errors is bounded.
struct TURNClient {
    enum Output: Sendable, Equatable {
        /// One message for the server; already padded for a stream.
        case transmit(ByteBuffer)
        case event(Event)
    }

    enum Event: Sendable, Equatable {
        /// The relay's addresses, one or one of each family, and our own address as the server sees it.
        case allocated([SocketAddress], mapped: SocketAddress?)
        /// A datagram from a permitted peer.
        case received(ByteBuffer, from: SocketAddress)
        /// The server refuses to relay to this peer.
        case refused(SocketAddress, TURNFailure)
        /// The server redirects to another one; the end of this client.
        case redirected(SocketAddress)
        /// The end.
        case failed(TURNFailure)
    }

    enum State: Sendable, Equatable {
        case idle
        case allocating
        case allocated
        case ended
    }

    struct Configuration: Sendable {
        var username: String
        var credential: String
        /// Over a stream, requests are not sent again, and ChannelData is padded.
        var isStream = false
        /// Requests an IPv6 relay in addition to the IPv4 one.
        var wantsIPv6 = false
        /// The time until a request is first sent again; it doubles each time.
        var retransmission = TimeAmount.milliseconds(250)
        var transmissions = 6
    }

    /// The families of a relay's addresses (RFC 8656 §5).
    enum Families: Sendable {
        case both
        case ipv4
        case ipv6
    }

    struct Request: Sendable {
        enum Kind: Sendable, Equatable {
            case allocate
            case refresh
            case permission(SocketAddress)
            case channel(UInt16, SocketAddress)
        }

        var kind: Kind
        var bytes: ByteBuffer
        var transmissions = 1
        var wait: TimeAmount
        var nextTransmission: NIODeadline
        /// True when it carried the credential.
        var isSigned: Bool
        /// The number of challenges, 401 or 438, so far.
        var challenges: Int
    }

    /// The permission for an IP address, on all ports (RFC 8656 §9).
    enum Permission: Sendable, Equatable {
        case requested
        case granted(refreshAt: NIODeadline)
        case refused
    }

    struct Channel: Sendable {
        var number: UInt16
        var isBound = false
        var refreshAt = NIODeadline.distantFuture
    }

    /// A datagram that waits for a permission.
    struct Held: Sendable {
        var payload: ByteBuffer
        var peer: SocketAddress
    }

    let configuration: Configuration
    var state = State.idle
    var credential: LongTermCredential
    var requests: [STUNTransactionID: Request] = [:]
    var permissions: [[UInt8]: Permission] = [:]
    var channels: [SocketAddress: Channel] = [:]
    var peersByChannel: [UInt16: SocketAddress] = [:]
    var held: [Held] = []
    var outputs: CircularBuffer<Output> = []
    var refreshAt = NIODeadline.distantFuture
    var generator: any RandomNumberGenerator
    /// The families to request, first the preferred one; the next is tried when the server does not support it.
    var families: [Families]
    var relayedAddresses: [SocketAddress] = []

    /// More than the number of pairs of an agent.
    static let maximumPermissions = 128
    static let maximumChannels = 16
    static let maximumHeld = 16
    static let maximumChallenges = 3
    static let streamTimeout = TimeAmount.seconds(10)

    /// Permissions last 5 minutes and channels 10 (RFC 8656 §9, §12); both are renewed one minute earlier.
    static let permissionRefresh = TimeAmount.minutes(4)
    static let channelRefresh = TimeAmount.minutes(9)

    init(configuration: Configuration, generator: any RandomNumberGenerator) {
        self.configuration = configuration
        self.generator = generator
        families = configuration.wantsIPv6 ? [.both, .ipv4, .ipv6] : [.ipv4]
        credential = LongTermCredential(username: configuration.username, password: configuration.credential)
    }

    /// Requests the allocation. A second call does nothing.
    mutating func start(at now: NIODeadline) {
        guard state == .idle else { return }
        state = .allocating
        request(.allocate, at: now)
    }

    /// Releases the allocation with one message. If it is lost, the allocation expires on the server.
    mutating func close() {
        if state == .allocated {
            let message = STUNMessage(
                .request, method: STUNMessage.refreshMethod, transactionID: makeID(), attributes: [.lifetime(0)])
            outputs.append(.transmit(credential.datagram(message)))
        }
        end()
    }

    mutating func poll() -> Output? {
        outputs.popFirst()
    }

    /// When `handleTimeout` is due.
    var nextDeadline: NIODeadline? {
        guard state == .allocating || state == .allocated else { return nil }
        var deadline = refreshAt
        for request in requests.values { deadline = min(deadline, request.nextTransmission) }
        for case .granted(let time) in permissions.values { deadline = min(deadline, time) }
        for channel in channels.values { deadline = min(deadline, channel.refreshAt) }
        return deadline
    }

    mutating func handleTimeout(at now: NIODeadline) {
        retransmit(at: now)
        guard state == .allocated else { return }
        if now >= refreshAt {
            refreshAt = .distantFuture
            request(.refresh, at: now)
        }
        for (key, permission) in permissions {
            guard case .granted(let time) = permission, now >= time, let peer = Self.address(key) else { continue }
            // Stays granted: it is valid for another minute.
            permissions[key] = .granted(refreshAt: .distantFuture)
            request(.permission(peer), at: now)
        }
        for (peer, channel) in channels where now >= channel.refreshAt {
            channels[peer]?.refreshAt = .distantFuture
            request(.channel(channel.number, peer), at: now)
        }
    }

    mutating func fail(_ failure: TURNFailure) {
        guard state != .ended else { return }
        end()
        outputs.append(.event(.failed(failure)))
    }

    mutating func end() {
        state = .ended
        requests = [:]
        permissions = [:]
        channels = [:]
        peersByChannel = [:]
        held = []
        refreshAt = .distantFuture
    }

    mutating func makeID() -> STUNTransactionID {
        STUNTransactionID(using: &generator)
    }

    /// A peer's address from the key of its permission; the port is arbitrary.
    private static func address(_ key: [UInt8]) -> SocketAddress? {
        try? SocketAddress(packedIPAddress: ByteBuffer(bytes: key), port: 9)
    }
}
