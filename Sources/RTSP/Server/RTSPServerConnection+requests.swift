import IoTCore
import NIOCore

extension RTSPServerConnection {
    /// A method's requirements and handler.
    private struct Row: Sendable {
        /// False for OPTIONS, which reveals only this table.
        var needsLogin = true
        var handler: @Sendable (inout RTSPServerConnection, RTSPRequest, NIODeadline) throws(RTSPRefusal) -> Void
    }

    /// The methods of `Public` and `Allow`, in their order there.
    private static let methods: [RTSPMethod] = [
        .options, .describe, .setup, .play, .pause, .teardown, .getParameter,
    ]

    /// Methods of RFC 2326 that are refused, because this server does not record.
    private static let refused: Set<RTSPMethod> = [.announce, .record, .setParameter, .redirect]

    private static let rows: [RTSPMethod: Row] = [
        .options: Row(needsLogin: false) { connection, request, _ in
            connection.respond(to: request, .ok) { $0[RTSPHeaderName.isPublic] = methodList }
        },
        .describe: Row { connection, request, _ throws(RTSPRefusal) in try connection.describe(request) },
        .setup: Row { connection, request, now throws(RTSPRefusal) in try connection.setUp(request, at: now) },
        .play: Row { connection, request, _ throws(RTSPRefusal) in try connection.play(request) },
        .pause: Row { connection, request, _ throws(RTSPRefusal) in try connection.pause(request) },
        .teardown: Row { connection, request, _ throws(RTSPRefusal) in try connection.tearDown(request) },
        .getParameter: Row { connection, request, _ throws(RTSPRefusal) in
            // Without a body, the request keeps the session alive (RFC 2326 §10.8).
            guard request.body.readableBytes == 0 else { throw RTSPRefusal(.parameterNotUnderstood) }
            connection.respond(to: request, .ok)
        },
    ]

    static var methodList: String { methods.map(\.rawValue).joined(separator: ", ") }

    mutating func handle(_ request: RTSPRequest, at now: NIODeadline) {
        do throws(RTSPRefusal) {
            guard request.headers.cseq != nil else { throw RTSPRefusal(.badRequest, "CSeq is missing") }
            guard let row = Self.rows[request.method] else {
                throw RTSPRefusal(Self.refused.contains(request.method) ? .methodNotAllowed : .notImplemented)
            }
            guard request.headers.required.isEmpty else { throw RTSPRefusal(.optionNotSupported) }
            guard user != nil || !row.needsLogin else { return logIn(request) }
            try checkUser(request)
            try checkSession(request, at: now)
            try row.handler(&self, request, now)
        } catch {
            respond(to: request, error)
        }
    }

    /// Refuses another key than the one that logged in.
    private func checkUser(_ request: RTSPRequest) throws(RTSPRefusal) {
        guard let user, let text = request.headers[RTSPHeaderName.authorization],
            let authorization = DigestAuthorization(text)
        else { return }
        guard authorization.username == user else {
            throw RTSPRefusal(.forbidden, "use another connection for another media key")
        }
    }

    private mutating func checkSession(_ request: RTSPRequest, at now: NIODeadline) throws(RTSPRefusal) {
        guard request.headers[RTSPHeaderName.session] != nil else { return }
        guard let session, request.headers.session?.identifier == session.identifier else {
            throw RTSPRefusal(.sessionNotFound)
        }
        self.session?.lastHeard = now
    }

    // MARK: Login

    private mutating func logIn(_ request: RTSPRequest) {
        do throws(ResponseAuthentication.Failure) {
            let authorization = try authentication.authorization(of: request)
            pending = .login(request, authorization)
            emit(.authenticate(authorization, method: request.method, after: loginPause))
        } catch {
            challenge(request, error)
        }
    }

    /// Each wrong login doubles the pause before the next one.
    private var loginPause: TimeAmount {
        guard wrongLogins > 0 else { return .zero }
        return .nanoseconds(limits.loginPause.nanoseconds << min(wrongLogins - 1, 8))
    }

    mutating func loggedIn(
        _ request: RTSPRequest, _ authorization: DigestAuthorization, _ result: Result<Void, RTSPRefusal>,
        at now: NIODeadline
    ) {
        if case .failure(let refusal) = result, refusal.status != .unauthorized {
            return respond(to: request, refusal)
        }
        do throws(ResponseAuthentication.Failure) {
            try authentication.accept(request, authorization, isProven: (try? result.get()) != nil)
            user = authorization.username
            handle(request, at: now)
        } catch {
            challenge(request, error)
            guard error == .wrong else { return }
            var code = 0
            if case .failure(let refusal) = result { code = refusal.code }
            report(request, .unauthorized, code: code)
            wrongLogins += 1
            if wrongLogins >= limits.wrongLogins { close() }
        }
    }

    private mutating func challenge(_ request: RTSPRequest, _ failure: ResponseAuthentication.Failure) {
        let challenges = authentication.challenges(isStale: failure == .stale)
        send(to: request, .unauthorized) { headers in
            for challenge in challenges { headers.add(RTSPHeaderName.authenticate, challenge) }
        }
    }

    // MARK: DESCRIBE

    private mutating func describe(_ request: RTSPRequest) throws(RTSPRefusal) {
        let path = try wholeStream(request)
        let accepted = request.headers.all(RTSPHeaderName.accept).joined(separator: ",").lowercased()
        guard accepted.isEmpty || accepted.contains("application/sdp") || accepted.contains("*/*") else {
            throw RTSPRefusal(.notAcceptable, "only application/sdp is offered")
        }
        pending = .description(request, path)
        emit(.open(path))
    }

    mutating func opened(_ request: RTSPRequest, _ path: StreamPath, _ result: Result<ServedStream, RTSPRefusal>) {
        do throws(RTSPRefusal) {
            let content = try result.get()
            stream = (path, content)
            let text = content.description(address: localAddress, sessionID: makeRandom() >> 1)
            respond(to: request, .ok, body: ByteBuffer(string: text)) { headers in
                headers[RTSPHeaderName.contentType] = "application/sdp"
                headers[RTSPHeaderName.contentBase] = Self.base(of: request.uri)
            }
        } catch {
            respond(to: request, error)
        }
    }

    /// The requested URL without its query and with a slash at its end, so that clients can append track names
    /// (RFC 2326 §C.1.1).
    private static func base(of uri: String) -> String {
        let path = uri.prefix { $0 != "?" }
        return path.hasSuffix("/") ? String(path) : path + "/"
    }

    private func wholeStream(_ request: RTSPRequest) throws(RTSPRefusal) -> StreamPath {
        guard let path = StreamPath(request.uri) else { throw RTSPRefusal(.notFound) }
        guard path.track == nil else { throw RTSPRefusal(.aggregateNotAllowed, "this URL names one track") }
        return path
    }

    // MARK: SETUP

    private mutating func setUp(_ request: RTSPRequest, at now: NIODeadline) throws(RTSPRefusal) {
        guard let path = StreamPath(request.uri) else { throw RTSPRefusal(.notFound) }
        if let session {
            guard request.headers.session != nil else {
                throw RTSPRefusal(.methodNotValidInState, "a connection has one session")
            }
            guard session.path.isSameStream(as: path) else { throw RTSPRefusal(.aggregateNotAllowed) }
            guard !session.isPlaying else { throw RTSPRefusal(.methodNotValidInState) }
        }
        guard let stream, stream.path.isSameStream(as: path) else {
            pending = .streamOfSetup(request, path)
            return emit(.open(StreamPath(name: path.name, definition: path.definition)))
        }
        try setUp(request, path, of: stream.content, at: now)
    }

    mutating func openedForSetup(
        _ request: RTSPRequest, _ path: StreamPath, _ result: Result<ServedStream, RTSPRefusal>, at now: NIODeadline
    ) {
        do throws(RTSPRefusal) {
            let content = try result.get()
            stream = (StreamPath(name: path.name, definition: path.definition), content)
            try setUp(request, path, of: content, at: now)
        } catch {
            respond(to: request, error)
        }
    }

    private mutating func setUp(
        _ request: RTSPRequest, _ path: StreamPath, of content: ServedStream, at now: NIODeadline
    ) throws(RTSPRefusal) {
        guard let index = path.track ?? (content.tracks.count == 1 ? 0 : nil) else {
            throw RTSPRefusal(.aggregateNotAllowed, "name a track of the session description")
        }
        guard content.tracks.indices.contains(index) else { throw RTSPRefusal(.notFound) }
        let session =
            session ?? ServerSession(identifier: Hex.encode(Self.bytes(of: makeRandom())), path: path, at: now)
        guard !session.tracks.contains(where: { $0.index == index }) else {
            throw RTSPRefusal(.methodNotValidInState, "the track is set up")
        }
        let transport = session.choose(
            request.headers.transports, peer: peer, allowsDatagrams: allowsDatagrams, index: index)
        guard let transport else {
            throw RTSPRefusal(
                .unsupportedTransport, allowsDatagrams ? nil : "use RTP/AVP/TCP: UDP would not be encrypted")
        }
        let track = ServedTrack(
            index: index, ssrc: UInt32(truncatingIfNeeded: makeRandom()), transport: transport)
        pendingSession = session
        pending = .setup(request, path, track)
        emit(.setUp(StreamPath(name: path.name, definition: path.definition), track))
    }

    private static func bytes(of number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    mutating func isSetUp(
        _ request: RTSPRequest, _ path: StreamPath, _ track: ServedTrack,
        _ result: Result<TransportHeader.Pair<UInt16>?, RTSPRefusal>, at now: NIODeadline
    ) {
        do throws(RTSPRefusal) {
            let ports = try result.get()
            guard var session = session ?? pendingSession else { return }
            pendingSession = nil
            session.add(track)
            session.lastHeard = now
            self.session = session
            let header = Self.header(of: track, serverPorts: ports)
            respond(to: request, .ok) { $0.transports = [header] }
        } catch {
            pendingSession = nil
            respond(to: request, error)
        }
    }

    private static func header(of track: ServedTrack, serverPorts: TransportHeader.Pair<UInt16>?) -> TransportHeader {
        switch track.transport {
        case .interleaved(let channels): TransportHeader(.tcp, interleaved: channels, ssrc: track.ssrc)
        case .datagrams(let ports):
            TransportHeader(.udp, clientPorts: ports, serverPorts: serverPorts, ssrc: track.ssrc)
        }
    }

    // MARK: PLAY, PAUSE, TEARDOWN

    /// The session that a request controls. The URL of a track is accepted if the session has only this track.
    private func controlled(_ request: RTSPRequest) throws(RTSPRefusal) -> ServerSession {
        guard let session, request.headers.session != nil else { throw RTSPRefusal(.sessionNotFound) }
        guard let path = StreamPath(request.uri), session.path.isSameStream(as: path) else {
            throw RTSPRefusal(.aggregateNotAllowed)
        }
        if let track = path.track, session.tracks.map(\.index) != [track] { throw RTSPRefusal(.onlyAggregateAllowed) }
        return session
    }

    private mutating func play(_ request: RTSPRequest) throws(RTSPRefusal) {
        let session = try controlled(request)
        try checkRange(request)
        guard !session.isPlaying else { return respondToPlay(request, []) }
        pending = .play(request)
        emit(.prepare)
    }

    /// A live stream supports only the range from now on. Some players request zero, or the time at which they paused.
    private func checkRange(_ request: RTSPRequest) throws(RTSPRefusal) {
        guard request.headers[RTSPHeaderName.range] != nil else { return }
        guard case .normalPlayTime(_, end: nil)? = request.headers.range else { throw RTSPRefusal(.invalidRange) }
    }

    mutating func isPrepared(_ request: RTSPRequest, _ result: Result<[ServedTrackStart], RTSPRefusal>) {
        do throws(RTSPRefusal) {
            let starts = try result.get()
            session?.isPlaying = true
            respondToPlay(request, starts)
            emit(.play)
        } catch {
            respond(to: request, error)
        }
    }

    private mutating func respondToPlay(_ request: RTSPRequest, _ starts: [ServedTrackStart]) {
        // RFC 2326 §12.33: the URLs of the SETUP requests.
        var base = Self.base(of: request.uri)
        if let track = StreamPath(request.uri)?.track {
            base.removeLast(StreamPath.control(ofTrack: track).utf8.count + 1)
        }
        let hasScale = request.headers[RTSPHeaderName.scale] != nil
        respond(to: request, .ok) { headers in
            headers.range = .live
            if hasScale { headers[RTSPHeaderName.scale] = "1.0" }
            headers.rtpInfo = starts.map {
                RTPInfo(
                    url: base + StreamPath.control(ofTrack: $0.index), sequenceNumber: $0.sequenceNumber,
                    timestamp: $0.timestamp)
            }
        }
    }

    private mutating func pause(_ request: RTSPRequest) throws(RTSPRefusal) {
        if try controlled(request).isPlaying {
            session?.isPlaying = false
            emit(.pause)
        }
        respond(to: request, .ok)
    }

    private mutating func tearDown(_ request: RTSPRequest) throws(RTSPRefusal) {
        _ = try controlled(request)
        leave()
        respond(to: request, .ok)
    }

    // MARK: Responses

    mutating func respond(to request: RTSPRequest?, _ refusal: RTSPRefusal) {
        let reason = refusal.reason.map { "\(refusal.status.reason) (\($0))" }
        respond(to: request, refusal.status, reason: reason, code: refusal.code) { headers in
            switch refusal.status {
            case .methodNotAllowed, .notImplemented: headers[RTSPHeaderName.allow] = Self.methodList
            case .optionNotSupported:
                headers[RTSPHeaderName.unsupported] = request?.headers.required.joined(separator: ", ")
            default: break
            }
        }
    }

    private mutating func respond(
        to request: RTSPRequest?, _ status: RTSPStatus, reason: String? = nil, code: Int = 0,
        body: ByteBuffer = ByteBuffer(), _ fill: (inout RTSPHeaders) -> Void = { _ in }
    ) {
        send(to: request, status, reason: reason, body: body, fill)
        if let request { report(request, status, code: code) }
    }

    private mutating func report(_ request: RTSPRequest, _ status: RTSPStatus, code: Int) {
        emit(.answered(AnsweredRequest(method: request.method, uri: request.uri, status: status, code: code)))
    }

    private mutating func send(
        to request: RTSPRequest?, _ status: RTSPStatus, reason: String? = nil, body: ByteBuffer = ByteBuffer(),
        _ fill: (inout RTSPHeaders) -> Void = { _ in }
    ) {
        var response = RTSPResponse(status, reason: reason, body: body)
        response.headers.cseq = request?.headers.cseq
        response.headers[RTSPHeaderName.server] = "iotvideod"
        if status.isSuccess, let session {
            response.headers.session = SessionHeader(
                session.identifier, timeout: Int(limits.sessionTime.nanoseconds / 1_000_000_000))
        }
        fill(&response.headers)
        var bytes = ByteBuffer()
        response.write(into: &bytes)
        emit(.send(bytes))
    }
}
