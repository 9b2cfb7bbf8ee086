package import IoTCore
package import NIOCore
import RTP

/// A server's side of one RTSP connection (RFC 2326). Owns no socket, clock, task or logger.
///
/// Requests are handled one after another, in the order of their arrival. For a login, a stream or a transport, the
/// connection makes an output, and waits for the matching input before it reads the next request.
///
/// A connection logs in once, because its later requests come over the same TCP or TLS stream. It has at most one
/// session, which ends with the connection. In RFC 2326 a session outlives its connection; players do not need that.
package struct RTSPServerConnection: Sendable {
    package enum Input: Sendable {
        case received(ByteBuffer)
        /// The deadline `timeout` has passed.
        case timeout
        /// The result of `authenticate`; the failure is `unauthorized` for a wrong login.
        case authenticated(Result<Void, RTSPRefusal>)
        /// The result of `open`.
        case opened(Result<ServedStream, RTSPRefusal>)
        /// The result of `setUp`, with the server's ports for UDP.
        case isSetUp(Result<TransportHeader.Pair<UInt16>?, RTSPRefusal>)
        /// The result of `prepare`.
        case isPrepared(Result<[ServedTrackStart], RTSPRefusal>)
        /// The player sent an RTCP report by UDP.
        case reported
        /// The camera, the account's right or the daemon ended the stream.
        case ended
    }

    package enum Output: Sendable {
        case send(ByteBuffer)
        /// A request was answered. The first 401 of a connection, which only asks for the login, is not reported.
        case answered(AnsweredRequest)
        /// Check a login, after a pause.
        case authenticate(DigestAuthorization, method: RTSPMethod, after: TimeAmount)
        /// Find a stream and the tracks that it has.
        case open(StreamPath)
        /// Add a track to the session. The first track begins the session.
        case setUp(StreamPath, ServedTrack)
        /// Determine where each track starts, without sending anything.
        case prepare
        /// Send the media from that start.
        case play
        case pause
        /// End the session.
        case leave
        /// Process an RTCP packet of the player.
        case report(track: Int, ByteBuffer)
        /// Close the connection after all bytes have been sent.
        case close
    }

    /// A request that waits for an input.
    enum Pending: Sendable {
        case login(RTSPRequest, DigestAuthorization)
        case description(RTSPRequest, StreamPath)
        case streamOfSetup(RTSPRequest, StreamPath)
        case setup(RTSPRequest, StreamPath, ServedTrack)
        case play(RTSPRequest)
    }

    package static let realm = "iotvideod"

    let localAddress: IPAddress
    let peer: IPAddress?
    let allowsDatagrams: Bool
    let limits: RTSPServerLimits
    let makeRandom: @Sendable () -> UInt64
    private var parser = RTSPParser(limits: .server)
    var authentication: ResponseAuthentication
    var pending: Pending?
    var stream: (path: StreamPath, content: ServedStream)?
    var session: ServerSession?
    /// The session that the SETUP in `pending` begins.
    var pendingSession: ServerSession?
    private(set) var isClosed = false
    /// The key that logged in.
    var user: String?
    var wrongLogins = 0
    private var requestCount = 0
    private var outputs: CircularBuffer<Output> = []
    private var heldBytes = 0
    private var requestRate: RateLimit
    private var frameRate: RateLimit
    private let loginDeadline: NIODeadline
    private var messageDeadline: NIODeadline?
    private var lastRequest: NIODeadline

    /// - Parameters:
    ///   - peer: The client's address; `nil` on a Unix socket.
    ///   - allowsDatagrams: False if the connection is encrypted, because packets by UDP would not be.
    ///   - makeRandom: Returns 64 unpredictable bits.
    package init(
        localAddress: IPAddress, peer: IPAddress?, allowsDatagrams: Bool,
        limits: RTSPServerLimits = RTSPServerLimits(), at now: NIODeadline,
        makeRandom: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        self.localAddress = localAddress
        self.peer = peer
        self.allowsDatagrams = allowsDatagrams
        self.limits = limits
        self.makeRandom = makeRandom
        authentication = ResponseAuthentication(realm: Self.realm) {
            String(makeRandom(), radix: 36) + String(makeRandom(), radix: 36) + String(makeRandom(), radix: 36)
        }
        requestRate = RateLimit(limits.requests)
        frameRate = RateLimit(limits.frames)
        loginDeadline = now + limits.loginTime
        lastRequest = now
    }

    /// Whether the connection waits for an input. The caller should not read from the socket meanwhile.
    package var isWaiting: Bool { pending != nil }

    package mutating func poll() -> Output? { outputs.popFirst() }

    package mutating func handle(_ input: Input, at now: NIODeadline) {
        guard !isClosed else { return }
        switch input {
        case .received(let bytes):
            parser.receive(bytes)
            if isWaiting {
                heldBytes += bytes.readableBytes
                if heldBytes > limits.heldBytes { close() }
            }
        case .timeout: checkDeadlines(at: now)
        case .authenticated(let result):
            if case .login(let request, let authorization) = takePending() {
                loggedIn(request, authorization, result, at: now)
            }
        case .opened(let result):
            switch takePending() {
            case .description(let request, let path): opened(request, path, result)
            case .streamOfSetup(let request, let path): openedForSetup(request, path, result, at: now)
            default: break
            }
        case .isSetUp(let result):
            if case .setup(let request, let path, let track) = takePending() {
                isSetUp(request, path, track, result, at: now)
            }
        case .isPrepared(let result):
            if case .play(let request) = takePending() { isPrepared(request, result) }
        case .reported: session?.lastHeard = now
        case .ended:
            leave()
            close()
        }
        readMessages(at: now)
    }

    private mutating func takePending() -> Pending? {
        defer { pending = nil }
        return pending
    }

    // MARK: Messages

    private mutating func readMessages(at now: NIODeadline) {
        guard pending == nil else { return }
        heldBytes = 0
        do throws(RTSPParseError) {
            while pending == nil, !isClosed, let message = try parser.next() {
                messageDeadline = nil
                switch message {
                case .request(let request): receive(request, at: now)
                case .frame(let frame): receive(frame, at: now)
                case .response: throw .malformedRequestLine
                }
            }
        } catch {
            respond(to: nil, RTSPRefusal(error.status, "\(error)"))
            close()
        }
        if parser.isWithinMessage {
            messageDeadline = messageDeadline ?? now + limits.messageTime
        } else {
            messageDeadline = nil
        }
    }

    private mutating func receive(_ request: RTSPRequest, at now: NIODeadline) {
        lastRequest = now
        requestCount += 1
        guard requestRate.take(at: now), user != nil || requestCount <= limits.requestsBeforeLogin else {
            respond(to: request, RTSPRefusal(.serviceUnavailable, "too many requests"))
            return close()
        }
        handle(request, at: now)
    }

    private mutating func receive(_ frame: InterleavedFrame, at now: NIODeadline) {
        // Other frames are ignored. Players send RTP to open ports of their firewall, and for back channels.
        guard let track = session?.track(reportingOn: frame.channel), frameRate.take(at: now) else { return }
        session?.lastHeard = now
        emit(.report(track: track, frame.payload))
    }

    // MARK: Time

    /// When to call `handle(.timeout)`; `nil` after the end.
    package var timeout: NIODeadline? {
        guard !isClosed else { return nil }
        // The matching input always comes, and until then no received bytes are parsed.
        guard pending == nil else { return sessionDeadline }
        return [messageDeadline, user == nil ? loginDeadline : nil, idleDeadline, sessionDeadline].compactMap { $0 }
            .min()
    }

    private var idleDeadline: NIODeadline? {
        user != nil && session == nil ? lastRequest + limits.idleTime : nil
    }

    /// `nil` while a session plays over the connection: the caller notices a client that accepts no packets.
    private var sessionDeadline: NIODeadline? {
        guard let session, session.usesDatagrams || !session.isPlaying else { return nil }
        return session.lastHeard + limits.sessionTime
    }

    private mutating func checkDeadlines(at now: NIODeadline) {
        guard let timeout, timeout <= now else { return }
        if let session, !session.isPlaying || session.usesDatagrams { leave() }
        close()
    }

    // MARK: Output

    mutating func emit(_ output: Output) { outputs.append(output) }

    mutating func leave() {
        guard session != nil else { return }
        session = nil
        emit(.leave)
    }

    mutating func close() {
        guard !isClosed else { return }
        leave()
        isClosed = true
        pending = nil
        emit(.close)
    }
}
