import IoTCore
public import IoTLink
import NIOCore
import PeerTransport

/// The caller's side of calls: asks the hub for a token, calls the device, and passes the device's messages to the call
/// they belong to.
public final class CallClient: Sendable {
    /// Receives a device's messages for one call. Called on the link's tasks.
    protocol Receiver: AnyObject, Sendable {
        /// The device's offer and its ICE servers; returns our answer.
        func invited(
            offer: SessionDescription, iceServers: [ICEServer]
        ) async throws(IoTError) -> SessionDescription
        func trickled(candidate: String)
        func ended(_ reason: IoTError)
    }

    private let link: LinkSession
    private let calls = CallTable()

    /// Handles the messages of devices on this link; create only one client per link.
    public init(link: LinkSession) {
        self.link = link
        attach()
    }

    private func attach() {
        link.handle(CallMethod.invite) { [calls] invitation, request async throws(IoTError) in
            let call = try calls.receiver(of: invitation.route, from: request.from)
            let answer = try await call.invited(
                offer: try SessionDescription(parsing: invitation.offer),
                iceServers: ICEServers.listToAsk(invitation.iceServers))
            return CallAnswer(answer: answer.text)
        }
        link.handle(CallMethod.trickle) { [calls] message, request async throws(IoTError) in
            try calls.receiver(of: message.route, from: request.from).trickled(candidate: message.candidate)
            return LinkNothing()
        }
        link.handle(CallMethod.end) { [calls] ending, request async throws(IoTError) in
            try calls.receiver(of: ending.route, from: request.from).ended(ending.reason)
            return LinkNothing()
        }
    }

    /// Calls a device, in another account's name if one is given. The device's offer goes to `receiver`. Returns when
    /// the device has taken the call.
    ///
    /// - Parameters:
    ///   - actions: what the call may be used for.
    ///   - definition: the wanted definitions, as in `Definition.list`.
    ///   - offer: the caller's own offer; the device then makes none, and its answer is in the result.
    @discardableResult
    func connect(
        session: String, device: DeviceID, kind: ChannelKind, source: Int, actions: [CallAction], definition: String?,
        offer: String? = nil, as account: Principal?, receiver: any Receiver
    ) async throws(IoTError) -> CallAcceptance {
        try calls.add(receiver, session: session, device: device)
        do throws(IoTError) {
            let granted = try await link.request(
                CallMethod.token, CallTokenQuery(device: device, kind: kind, actions: actions), as: account)
            return try await link.request(
                CallMethod.connect,
                CallRequest(
                    device: device, kind: kind, source: Int64(source), session: session, offer: offer,
                    definition: definition, token: granted.token), as: account)
        } catch {
            calls.remove(session: session)
            throw error
        }
    }

    /// Sends one of the caller's candidates to the device, as `candidate:…`; empty text marks the end of the
    /// candidates.
    func trickle(
        session: String, device: DeviceID, as account: Principal?, candidate: String
    ) async throws(IoTError) {
        _ = try await link.request(
            CallMethod.trickle,
            CallCandidate(CallRoute(peer: .device(device), session: session), candidate: candidate),
            timeout: .seconds(2), as: account)
    }

    /// Sends a command to the device of an established call.
    func control(
        session: String, device: DeviceID, as account: Principal?, _ command: CallCommand
    ) async throws(IoTError) {
        _ = try await link.request(
            CallMethod.control, CallControl(CallRoute(peer: .device(device), session: session), command), as: account)
    }

    /// Removes a call that the device ended itself.
    func forget(session: String) {
        calls.remove(session: session)
    }

    /// Hangs up; the device may have ended the call already.
    func end(session: String, device: DeviceID, as account: Principal?) async {
        calls.remove(session: session)
        _ = try? await link.request(
            CallMethod.end,
            CallEnding(CallRoute(peer: .device(device), session: session), IoTError(.hungUp, "the viewer left")),
            timeout: .seconds(2), as: account)
    }
}
