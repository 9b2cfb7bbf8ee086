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
        let source = call.source ?? 0
        guard source == 0 else {
            throw IoTError(
                .callTargetNotFound, "the camera has no source \(source)",
                remedy: "omit --source: the camera has only source 0")
        }
        let wanted = try call.definition.map { text throws(IoTError) in
            guard let list = Definition.list(text) else {
                throw IoTError(.invalidParameter, "'definition' " + Definition.requirement)
            }
            return list
        }
        // Twice, because whether there is `audio` is known only when the main source is open.
        for _ in 0..<2 {
            try await stream.run { stream in stream.definitions.untilReady(wanted) }
        }
        let session = call.session
        if let text = call.offer {
            let answer = try await answer(text, session: session, grant: grant, wanted)
            return try await acceptance(session: session, grant: grant, answer: answer)
        }
        let route = CallRoute(peer: grant.user, session: session, peerSession: call.peerSession)
        let offer = try await offer(route, grant: grant, wantsMedia: call.play ?? false, wanted)
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

    /// Answers a browser's call. The call contains the browser's offer, and media start when the connection is
    /// established.
    private func answer(
        _ text: String, session: String, grant: CallGrant, _ wanted: [Definition]?
    ) async throws(IoTError) -> String {
        let offer = try SessionDescription(parsing: text)
        // Browsers do not reorder pictures. A source that was opened for this call has shown too few of them.
        if !BrowserOffer.pictures(offer).isEmpty {
            try await stream.run { stream in stream.definitions.untilOrderIsKnown(wanted) }
        }
        // The caller has got a time-out.
        guard !Task.isCancelled else { throw IoTError(.hungUp) }
        return try await addViewer(BrowserViewer.init, session: session, grant: grant, wantsMedia: true, wanted) {
            viewer throws(IoTError) in
            try viewer.makeAnswer(to: offer)
            return viewer.gathered()
        }
    }

    /// Offers to a gateway. The servers' candidates follow the offer.
    private func offer(
        _ route: CallRoute, grant: CallGrant, wantsMedia: Bool, _ wanted: [Definition]?
    ) async throws(IoTError) -> String {
        try await addViewer(
            GatewayViewer.init, session: route.session, grant: grant, wantsMedia: wantsMedia, wanted
        ) {
            [stream, notices] viewer throws(IoTError) in
            stream.eventLoop.makeSucceededFuture(try viewer.makeOffer(candidates: notices.candidates(route)))
        }
    }

    private func acceptance(
        session: String, grant: CallGrant, answer: String? = nil
    ) async throws(IoTError) -> CallAcceptance {
        let (definition, all) = try await stream.run { stream in
            let definition = stream.called(session)?.connection.definition.rawValue
            return stream.eventLoop.makeSucceededFuture((definition, stream.definitions.all.map(\.rawValue)))
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
        _ wanted: [Definition]?,
        _ describe: @escaping @Sendable (Viewer) throws(IoTError) -> EventLoopFuture<String>
    ) async throws(IoTError) -> String {
        try await stream.run { [notices, peers, iceServers] stream in
            do {
                guard stream.viewers[session] == nil else { throw IoTError(.duplicateCall) }
                let connection = ViewerConnection(
                    session: session, grant: grant, stream: stream, choice: try stream.definitions.choose(wanted),
                    wantsMedia: wantsMedia, peers: peers, iceServers: iceServers
                ) { reason in
                    guard let reason else { return }
                    notices.end(CallRoute(peer: grant.user, session: session), reason: reason)
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
