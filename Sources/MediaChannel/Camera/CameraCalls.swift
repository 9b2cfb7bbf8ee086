import IoTCore
import IoTLink
import Logging
import NIOCore
import PeerTransport
import ThingModel

/// The callee's side of a camera's channels: takes the calls that the hub forwards, sends offers, and serves viewers.
///
/// `@unchecked Sendable`: `stream` and all viewers are used only on the stream's event loop.
final class CameraCalls: @unchecked Sendable {
    /// How long a caller may take to answer a notice.
    private static let noticeTimeout = Duration.seconds(2)

    private let stream: NIOLoopBoundBox<CameraStream>
    private let link: any CameraLink
    private let admission: CallAdmission
    private let device: DeviceID
    /// Signs our descriptions; `nil` for a camera without a key.
    private let key: DeviceKey?
    private let check: CallerCheck
    private let peers: ViewerPeers
    private let iceServers: ICEServers
    /// `nil` if the camera is not recorded.
    private let recordings: CameraRecordings?
    private let notices: CallNotices

    /// - Parameters:
    ///   - key: signs the camera's descriptions; `nil` for a camera without a key.
    ///   - takesLive: Whether it takes live calls.
    ///   - callers: the gateways that may call it.
    ///   - recordings: what it plays; `nil` if it is not recorded.
    init(
        stream: NIOLoopBoundBox<CameraStream>, device: DeviceID, key: DeviceKey?, takesLive: Bool,
        callers: CallerKeys, link: any CameraLink,
        peers: ViewerPeers, iceServers: ICEServers, recordings: CameraRecordings? = nil
    ) {
        self.recordings = recordings
        self.iceServers = iceServers
        self.stream = stream
        self.link = link
        self.device = device
        self.key = key
        check = CallerCheck(callers: callers)
        self.peers = peers
        admission = CallAdmission(
            device: device,
            offered: Set(
                [.monitor, .transmission] + (takesLive ? [.live] : []) + (recordings == nil ? [] : [.playback])))
        notices = CallNotices { [link] notice in
            switch notice {
            case .ending(let ending):
                _ = try? await link.request(CallMethod.end, ending, timeout: Self.noticeTimeout, as: nil)
            case .candidate(let candidate):
                _ = try? await link.request(CallMethod.trickle, candidate, timeout: Self.noticeTimeout, as: nil)
            }
        }
    }

    /// Starts to take calls.
    func attach() {
        link.handle(CallMethod.connect) { [self] call, request async throws(IoTError) in
            do throws(IoTError) {
                return try await connect(call, from: request.from, local: request.grant)
            } catch {
                // The guide has a number of its own for a call to a device that is off.
                guard error.code == .cameraOff else { throw error }
                throw IoTError(.deviceDisabled, error.message, remedy: error.remedy, underlying: error)
            }
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

    private func connect(
        _ call: CallRequest, from caller: Principal?, local: LANGrantClaims?
    ) async throws(IoTError) -> CallAcceptance {
        let grant = try admission.grant(
            of: call, from: caller, keys: link.tokenKeys, local: local, at: link.hubTime / 1000)
        let identity = CallIdentity(
            device: device, caller: grant.user, session: call.session, kind: call.kind, source: call.source)
        if let offer = call.offer { try check.verify(offer, call.proof, of: identity) }
        try check(call.source, of: call, grant)
        let wanted = try call.definition.map { text throws(IoTError) in
            guard let list = WantedDefinition.list(text) else {
                throw IoTError(.invalidParameter, "'definition' " + WantedDefinition.requirement)
            }
            return list
        }
        let wish = ViewerWish(source: call.source, definitions: wanted)
        if call.kind == .transmission {
            return try await connectAside(call, grant, identity) { stream, connection, feed throws(IoTError) in
                let viewer = DataViewer(connection)
                try stream.add(viewer)
                return try viewer.makeOffer(candidates: feed)
            }
        }
        if call.kind == .playback { return try await connectPlayback(call, grant, identity) }
        // Twice, because whether there is `audio` is known only when the main source is open.
        for _ in 0..<2 {
            try await stream.run { stream in stream.untilReady(wish) }
        }
        let session = call.session
        if let text = call.offer {
            let answer = try await answer(text, session: session, grant: grant, wish)
            let proof = try key?.prove(identity.statement(of: answer, by: .device, answering: text))
            return try await acceptance(session: session, grant: grant, answer: answer, proof: proof)
        }
        let route = CallRoute(peer: grant.user, session: session, peerSession: call.peerSession)
        let offer = try await offer(route, grant: grant, wantsMedia: call.play ?? false, wish)
        try await invite(route, offer, identity)
        return try await acceptance(session: session, grant: grant)
    }

    /// Takes a call for recordings.
    private func connectPlayback(
        _ call: CallRequest, _ grant: CallGrant, _ identity: CallIdentity
    ) async throws(IoTError) -> CallAcceptance {
        guard let recordings else { throw IoTError(.operationNotAllowed, "the camera is not recorded") }
        let own = CallRecordings(recordings, on: recordings.reader)
        do throws(IoTError) {
            let tracks = try await stream.run { stream in
                own.perform(on: stream.eventLoop) { source throws(IoTError) in try source.tracks() }
            }
            guard let tracks else {
                throw IoTError(
                    .downloadNotFound, "nothing is recorded of this camera",
                    remedy: "set its key record, and wait until something is recorded")
            }
            return try await connectAside(call, grant, identity) { stream, connection, feed throws(IoTError) in
                let viewer = PlaybackViewer(
                    connection, own, files: CallRecordings(recordings, on: recordings.files), tracks: tracks)
                try stream.add(viewer)
                return try viewer.makeOffer(candidates: feed)
            }
        } catch {
            own.close()
            throw error
        }
    }

    /// Takes a call for which the camera needs no source.
    ///
    /// - Parameter add: adds its viewer, and returns the viewer's offer.
    private func connectAside(
        _ call: CallRequest, _ grant: CallGrant, _ identity: CallIdentity,
        _ add:
            @escaping @Sendable (CameraStream, ViewerConnection, CandidateFeed) throws(IoTError) -> String
    ) async throws(IoTError) -> CallAcceptance {
        guard call.offer == nil else {
            throw IoTError(.operationNotAllowed, "a \(call.kind.name) call carries no offer of the caller")
        }
        let route = CallRoute(peer: grant.user, session: call.session, peerSession: call.peerSession)
        let offer = try await stream.run { [notices, peers, iceServers] stream in
            stream.eventLoop.makeCompletedFuture {
                guard stream.called(route.session) == nil, stream.viewers[route.session] == nil else {
                    throw IoTError(.duplicateCall)
                }
                let connection = ViewerConnection(
                    session: route.session, grant: grant, stream: stream,
                    choice: CameraDefinitions.Choice(definition: .high, rendition: stream.main),
                    wantsMedia: call.play ?? false,
                    peers: peers, iceServers: iceServers
                ) { reason in
                    if let reason { notices.end(route, reason: reason) }
                }
                do {
                    return try add(stream, connection, notices.candidates(route))
                } catch {
                    stream.remove(session: route.session)
                    throw error
                }
            }
        }
        try await invite(route, offer, identity)
        return CallAcceptance(session: route.session, iceServers: servers(for: route.session), expires: grant.expires)
    }

    /// Sends our offer to the caller, and takes its answer.
    private func invite(_ route: CallRoute, _ offer: String, _ identity: CallIdentity) async throws(IoTError) {
        let session = route.session
        do throws(IoTError) {
            let answered = try await link.request(
                CallMethod.invite,
                CallInvitation(
                    route, offer: offer, proof: try key?.prove(identity.statement(of: offer, by: .device)),
                    iceServers: servers(for: session)), as: nil)
            try check.verify(answered.answer, answered.proof, answering: offer, of: identity)
            let answer = try SessionDescription(parsing: answered.answer)
            try await stream.run { stream in
                stream.eventLoop.makeCompletedFuture {
                    guard let viewer = stream.called(session) else { throw IoTError(.callerHungUp) }
                    try viewer.connection.setAnswer(answer)
                }
            }
        } catch {
            try? await stream.run { stream in
                stream.eventLoop.makeCompletedFuture { stream.called(session)?.hungUp() }
            }
            throw error
        }
    }

    private func check(_ source: ChannelSource, of call: CallRequest, _ grant: CallGrant) throws(IoTError) {
        switch source {
        case .main: break
        case .caller where call.kind == .monitor:
            guard grant.isOwner else {
                throw IoTError(
                    .relationInvalid, "only the camera's owner may watch the caller of a live call",
                    remedy: "omit --source to watch the camera")
            }
        // Whether there is such a camera is found when it is chosen.
        case .camera where call.kind == .monitor: break
        case .camera, .caller:
            throw IoTError(
                .callTargetNotFound, "the camera has no source \(source) for a \(call.kind.name) channel",
                remedy: "omit --source, or watch the source in a monitor channel")
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
        guard !Task.isCancelled else { throw IoTError(.callerHungUp) }
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
        session: String, grant: CallGrant, answer: String? = nil, proof: DescriptionProof? = nil
    ) async throws(IoTError) -> CallAcceptance {
        let (definition, all, rings) = try await stream.run { stream in
            let connection = stream.called(session)?.connection
            let all = connection?.definitions ?? stream.definitions.all
            return stream.eventLoop.makeSucceededFuture(
                (connection?.definition.rawValue, all.map(\.rawValue), connection?.rings))
        }
        return CallAcceptance(
            session: session, answer: answer, proof: proof, iceServers: servers(for: session),
            expires: grant.expires, definition: definition, definitions: all, rings: rings == true ? true : nil)
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
                guard stream.viewers[session] == nil, stream.called(session) == nil else {
                    throw IoTError(.duplicateCall)
                }
                let connection = ViewerConnection(
                    session: session, grant: grant, stream: stream, choice: try stream.choose(wish),
                    source: wish.source, wantsMedia: wantsMedia, peers: peers, iceServers: iceServers
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
