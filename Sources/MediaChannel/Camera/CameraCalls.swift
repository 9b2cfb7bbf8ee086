import IoTCore
import IoTLink
import Logging
import NIOCore
import PeerTransport

/// The called side of a camera's channels: takes the hub's forwarded calls, offers, and serves the viewer.
///
/// `@unchecked Sendable`: `stream` and all viewers are used on the stream's event loop alone.
final class CameraCalls: @unchecked Sendable {
    /// How long a call may take to its first encrypted packet.
    static let sourceTimeout: TimeAmount = .seconds(10)
    /// How long a caller may take to answer what it is told.
    private static let noticeTimeout = Duration.seconds(2)

    private let stream: NIOLoopBoundBox<CameraStream>
    private let link: LinkSession
    private let admission: CallAdmission
    private let peers: ViewerPeers
    private let iceServers: ICEServers
    private let notices: CallNotices

    /// The kinds of channel that a camera serves.
    private static let offered: Set<ChannelKind> = [.monitor]

    init(
        stream: NIOLoopBoundBox<CameraStream>, device: DeviceID, link: LinkSession, peers: ViewerPeers,
        iceServers: ICEServers
    ) {
        self.iceServers = iceServers
        self.stream = stream
        self.link = link
        self.peers = peers
        admission = CallAdmission(device: device, offered: Self.offered)
        notices = CallNotices { [link] method, params in
            _ = try? await link.request(method, params, timeout: Self.noticeTimeout)
        }
    }

    /// Begins to take calls.
    func attach() {
        link.handle(CallMethod.connect) { [self] _, request async throws(IoTError) in try await connect(request) }
        link.handle(CallMethod.control) { [self] _, request async throws(IoTError) in
            guard let command = CallCommand(rawValue: request.params.shortText("command") ?? "") else {
                throw IoTError(.invalidRequest, "command is play or stop")
            }
            try await withViewer(of: request) { viewer throws(IoTError) in viewer.perform(command, at: .now()) }
            return .object([:])
        }
        link.handle(CallMethod.trickle) { [self] _, request async throws(IoTError) in
            let candidate = request.params["candidate"]?.stringValue ?? ""
            try await withViewer(of: request) { viewer throws(IoTError) in
                try viewer.connection.addRemoteCandidate(candidate)
            }
            return .object([:])
        }
        link.handle(CallMethod.end) { [self] _, request async throws(IoTError) in
            try await withViewer(of: request) { viewer throws(IoTError) in viewer.hungUp() }
            return .object([:])
        }
    }

    /// Tells callers of candidates and of channels that ended; runs until cancelled.
    func run() async {
        await notices.run()
    }

    private func connect(_ request: LinkRequest) async throws(IoTError) -> JSONValue {
        let grant = try admission.grant(of: request, keys: link.tokenKeys, at: link.hubTime / 1000)
        guard let session = request.params.shortText("session"), !session.isEmpty else {
            throw IoTError(.invalidRequest, "session is 1 to 64 bytes of text")
        }
        let source = request.params["source"]?.integerValue ?? 0
        guard source == 0 else {
            throw IoTError(
                .callTargetNotFound, "the camera has no source \(source)",
                remedy: "leave --source out: it has only one, 0")
        }
        try await onLoop { stream in stream.untilReady() }
        if let text = request.params["offer"]?.stringValue {
            return try await answer(text, session: session, grant: grant)
        }
        let playsAtOnce = request.params["play"]?.boolValue ?? false
        let peerSession = request.params["peerSession"]
        let offer = try await offer(
            session: session, peerSession: peerSession, grant: grant, wantsMedia: playsAtOnce)
        do throws(IoTError) {
            let answered = try await link.request(
                CallMethod.invite,
                [
                    "peer": .string(grant.user), "peerSession": peerSession ?? .null,
                    "session": .string(session), "offer": .string(offer), "iceServers": serverList(for: session),
                ])
            guard let text = answered["answer"]?.stringValue else {
                throw IoTError(.sessionDescriptionInvalid, "the caller sent no answer")
            }
            let answer = try SessionDescription(parsing: text)
            try await onLoop { stream in
                stream.eventLoop.makeCompletedFuture {
                    guard let viewer = stream.viewers[session] else { throw IoTError(.hungUp) }
                    try viewer.connection.setAnswer(answer)
                }
            }
        } catch {
            try? await onLoop { stream in
                stream.eventLoop.makeCompletedFuture { stream.viewers[session]?.hungUp() }
            }
            throw error
        }
        return result(session: session, grant: grant)
    }

    /// A browser's call: its offer came with it, and media flow once the connection stands.
    private func answer(_ text: String, session: String, grant: CallGrant) async throws(IoTError) -> JSONValue {
        let offer = try SessionDescription(parsing: text)
        let answer = try await addViewer(BrowserViewer.init, session: session, grant: grant, wantsMedia: true) {
            viewer throws(IoTError) in
            try viewer.makeAnswer(to: offer)
            return viewer.gathered()
        }
        var result = result(session: session, grant: grant)
        result["answer"] = .string(answer)
        return result
    }

    /// A call of our own kind: candidates that servers tell of follow the offer.
    private func offer(
        session: String, peerSession: JSONValue?, grant: CallGrant, wantsMedia: Bool
    ) async throws(IoTError) -> String {
        try await addViewer(GatewayViewer.init, session: session, grant: grant, wantsMedia: wantsMedia) {
            [stream, notices] viewer throws(IoTError) in
            let candidates = notices.candidates(peer: grant.user, peerSession: peerSession, session: session)
            return stream.eventLoop.makeSucceededFuture(try viewer.makeOffer(candidates: candidates))
        }
    }

    private func result(session: String, grant: CallGrant) -> JSONValue {
        [
            "session": .string(session), "iceServers": serverList(for: session),
            "expiryTimeSeconds": .integer(grant.expires),
        ]
    }

    private func serverList(for session: String) -> JSONValue {
        .array(iceServers.servers(for: session, at: WallClock.milliseconds() / 1000).map(\.json))
    }

    /// A new viewer, and the description that `describe` makes.
    private func addViewer<Viewer: CameraViewer>(
        _ make: @escaping @Sendable (ViewerConnection) -> Viewer, session: String, grant: CallGrant, wantsMedia: Bool,
        _ describe: @escaping @Sendable (Viewer) throws(IoTError) -> EventLoopFuture<String>
    ) async throws(IoTError) -> String {
        try await onLoop { [notices, peers, iceServers] stream in
            do {
                guard stream.viewers[session] == nil else { throw IoTError(.duplicateCall) }
                let connection = ViewerConnection(
                    session: session, grant: grant, stream: stream, wantsMedia: wantsMedia, peers: peers,
                    iceServers: iceServers
                ) { reason in
                    guard let reason else { return }
                    notices.end(peer: grant.user, session: session, reason: reason)
                }
                let viewer = make(connection)
                try stream.add(viewer)
                do {
                    return try describe(viewer)
                } catch {
                    stream.remove(session: session)
                    throw error
                }
            } catch {
                return stream.eventLoop.makeFailedFuture(error)
            }
        }
    }

    /// Runs `body` on the loop with the viewer that a request is about: only its own caller may speak for it.
    private func withViewer(
        of request: LinkRequest, _ body: @escaping @Sendable (any CameraViewer) throws(IoTError) -> Void
    ) async throws(IoTError) {
        let session = request.params.shortText("session") ?? ""
        let from = request.from?.description
        try await onLoop { stream in
            stream.eventLoop.makeCompletedFuture {
                guard let viewer = stream.viewers[session], viewer.connection.grant.user == from else {
                    throw IoTError(.callTargetNotFound, "there is no such call")
                }
                try body(viewer)
            }
        }
    }

    private func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (CameraStream) -> EventLoopFuture<Value>
    ) async throws(IoTError) -> Value {
        do {
            return try await stream.eventLoop.flatSubmit { [stream] in body(stream.value) }.get()
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.internalFailure, underlying: error)
        }
    }
}
