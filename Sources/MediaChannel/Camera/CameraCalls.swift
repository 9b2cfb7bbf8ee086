import IoTCore
import IoTLink
import Logging
import NIOCore
import PeerTransport

/// The callee's side of a camera's channels: takes the calls that the hub forwards, sends offers, and serves viewers.
///
/// `@unchecked Sendable`: `stream` and all viewers are used only on the stream's event loop.
final class CameraCalls: @unchecked Sendable {
    /// How long a caller may take to answer a notice.
    private static let noticeTimeout = Duration.seconds(2)

    private let stream: NIOLoopBoundBox<CameraStream>
    private let link: LinkSession
    private let admission: CallAdmission
    private let peers: ViewerPeers
    private let iceServers: ICEServers
    private let notices: CallNotices

    /// - Parameter takesLive: Whether it takes live calls.
    init(
        stream: NIOLoopBoundBox<CameraStream>, device: DeviceID, takesLive: Bool, link: LinkSession,
        peers: ViewerPeers, iceServers: ICEServers
    ) {
        self.iceServers = iceServers
        self.stream = stream
        self.link = link
        self.peers = peers
        admission = CallAdmission(device: device, offered: takesLive ? [.monitor, .live] : [.monitor])
        notices = CallNotices { [link] notice in
            switch notice {
            case .ending(let ending): _ = try? await link.request(CallMethod.end, ending, timeout: Self.noticeTimeout)
            case .candidate(let candidate):
                _ = try? await link.request(CallMethod.trickle, candidate, timeout: Self.noticeTimeout)
            }
        }
    }

    /// Starts to take calls.
    func attach() {
        link.handle(CallMethod.connect) { [self] call, request async throws(IoTError) in
            try await connect(call, from: request.from)
        }
        link.handle(CallMethod.control) { [self] message, request async throws(IoTError) in
            try await withViewer(of: message, from: request.from) { viewer throws(IoTError) in
                viewer.perform(message.command, at: .now())
            }
            return LinkNothing()
        }
        link.handle(CallMethod.trickle) { [self] message, request async throws(IoTError) in
            try await withViewer(of: message, from: request.from) { viewer throws(IoTError) in
                try viewer.connection.addRemoteCandidate(message.candidate)
            }
            return LinkNothing()
        }
        link.handle(CallMethod.end) { [self] message, request async throws(IoTError) in
            try await withViewer(of: message, from: request.from) { viewer throws(IoTError) in viewer.hungUp() }
            return LinkNothing()
        }
    }

    /// Notifies callers of candidates and of ended channels; runs until cancelled.
    func run() async {
        await notices.run()
    }

    private func connect(_ call: CallRequest, from caller: Principal?) async throws(IoTError) -> CallAcceptance {
        let grant = try admission.grant(of: call, from: caller, keys: link.tokenKeys, at: link.hubTime / 1000)
        let source = try source(of: call, grant)
        let wanted = try call.definition.map { text throws(IoTError) in
            guard let list = Definition.list(text) else {
                throw IoTError(.invalidParameter, "'definition' " + Definition.requirement)
            }
            return list
        }
        let wish = ViewerWish(source: source, definitions: wanted)
        // Twice, because whether there is `audio` is known only when the main source is open.
        for _ in 0..<2 {
            try await stream.run { stream in stream.untilReady(wish) }
        }
        let session = call.session
        if let text = call.offer {
            let answer = try await answer(text, session: session, grant: grant, wish)
            return try await acceptance(session: session, grant: grant, answer: answer)
        }
        let route = CallRoute(peer: grant.user, session: session, peerSession: call.peerSession)
        let offer = try await offer(route, grant: grant, wantsMedia: call.play ?? false, wish)
        do throws(IoTError) {
            let answered = try await link.request(
                CallMethod.invite, CallInvitation(route, offer: offer, iceServers: servers(for: session)))
            let answer = try SessionDescription(parsing: answered.answer)
            try await stream.run { stream in
                stream.eventLoop.makeCompletedFuture {
                    guard let viewer = stream.called(session) else { throw IoTError(.hungUp) }
                    try viewer.connection.setAnswer(answer)
                }
            }
        } catch {
            try? await stream.run { stream in
                stream.eventLoop.makeCompletedFuture { stream.called(session)?.hungUp() }
            }
            throw error
        }
        return try await acceptance(session: session, grant: grant)
    }

    private func source(of call: CallRequest, _ grant: CallGrant) throws(IoTError) -> Int {
        switch call.source ?? 0 {
        case 0: return 0
        case Int64(LiveCall.source) where call.kind == .monitor:
            guard grant.isOwner else {
                throw IoTError(
                    .relationInvalid, "only the camera's owner may watch the caller of a live call",
                    remedy: "omit --source to watch the camera")
            }
            return LiveCall.source
        case let other:
            throw IoTError(
                .callTargetNotFound, "the camera has no source \(other)",
                remedy: "omit --source: source 0 is the camera; its owner can watch the caller of a live call as "
                    + "source \(LiveCall.source)")
        }
    }

    /// Answers a browser's call. The call contains the browser's offer, and media start when the connection is
    /// established.
    private func answer(
        _ text: String, session: String, grant: CallGrant, _ wish: ViewerWish
    ) async throws(IoTError) -> String {
        let offer = try SessionDescription(parsing: text)
        // Browsers do not reorder pictures. A source that was opened for this call has shown too few of them.
        if !BrowserOffer.pictures(offer).isEmpty {
            try await stream.run { stream in stream.untilOrderIsKnown(wish) }
        }
        // The caller has got a time-out.
        guard !Task.isCancelled else { throw IoTError(.hungUp) }
        return try await addViewer(BrowserViewer.init, session: session, grant: grant, wantsMedia: true, wish) {
            viewer throws(IoTError) in
            try viewer.makeAnswer(to: offer)
            return viewer.gathered()
        }
    }

    /// Offers to a gateway. The servers' candidates follow the offer.
    private func offer(
        _ route: CallRoute, grant: CallGrant, wantsMedia: Bool, _ wish: ViewerWish
    ) async throws(IoTError) -> String {
        try await addViewer(
            GatewayViewer.init, session: route.session, grant: grant, wantsMedia: wantsMedia, wish
        ) {
            [stream, notices] viewer throws(IoTError) in
            stream.eventLoop.makeSucceededFuture(try viewer.makeOffer(candidates: notices.candidates(route)))
        }
    }

    private func acceptance(
        session: String, grant: CallGrant, answer: String? = nil
    ) async throws(IoTError) -> CallAcceptance {
        let (definition, all) = try await stream.run { stream in
            let connection = stream.called(session)?.connection
            let all = connection?.definitions ?? stream.definitions.all
            return stream.eventLoop.makeSucceededFuture((connection?.definition.rawValue, all.map(\.rawValue)))
        }
        return CallAcceptance(
            session: session, answer: answer, iceServers: servers(for: session), expires: grant.expires,
            definition: definition, definitions: all)
    }

    private func servers(for session: String) -> [CallServer] {
        iceServers.servers(for: session, at: WallClock.milliseconds() / 1000).map(CallServer.init)
    }

    /// Adds a viewer and returns the description that `describe` makes.
    private func addViewer<Viewer: CalledViewer>(
        _ make: @escaping @Sendable (ViewerConnection) -> Viewer, session: String, grant: CallGrant, wantsMedia: Bool,
        _ wish: ViewerWish,
        _ describe: @escaping @Sendable (Viewer) throws(IoTError) -> EventLoopFuture<String>
    ) async throws(IoTError) -> String {
        try await stream.run { [notices, peers, iceServers] stream in
            do {
                guard stream.viewers[session] == nil else { throw IoTError(.duplicateCall) }
                let connection = ViewerConnection(
                    session: session, grant: grant, stream: stream, choice: try stream.choose(wish),
                    wantsMedia: wantsMedia, peers: peers, iceServers: iceServers
                ) { reason in
                    guard let reason else { return }
                    notices.end(CallRoute(peer: grant.user, session: session), reason: reason)
                }
                try connection.makeLive()
                let viewer = make(connection)
                do {
                    try stream.add(viewer)
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

    /// Runs `body` on the loop with the viewer of a message; only the viewer's own caller may send messages for it.
    private func withViewer(
        of message: some CallMessage, from sender: Principal?,
        _ body: @escaping @Sendable (any CalledViewer) throws(IoTError) -> Void
    ) async throws(IoTError) {
        let session = message.route.session
        try await stream.run { stream in
            stream.eventLoop.makeCompletedFuture {
                guard let viewer = stream.called(session), viewer.connection.grant.user == sender else {
                    throw IoTError(.callTargetNotFound, "the call does not exist")
                }
                try body(viewer)
            }
        }
    }
}
