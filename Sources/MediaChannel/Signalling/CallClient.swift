import IoTCore
public import IoTLink
import NIOCore
import PeerTransport

/// The caller's part of a call: asks the hub for a token, calls the device, and hands what the device sends back to
/// the call it belongs to.
public final class CallClient: Sendable {
    /// What a device sends to one call. Called on the link's tasks.
    protocol Receiver: AnyObject, Sendable {
        /// The device's offer, with the servers that help to reach it; answers with ours.
        func invited(
            offer: SessionDescription, iceServers: [ICEServer]
        ) async throws(IoTError) -> SessionDescription
        func trickled(candidate: String)
        func ended(_ reason: IoTError)
    }

    private let link: LinkSession
    private let calls = CallTable()

    /// Takes what devices send over this link: there is one for each link.
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

    /// Calls a device, in another account's name if one is given; its offer reaches `receiver`. Answers when the device took the call.
    ///
    /// - Parameter offer: the caller's own; then the device makes none, and its answer stands in the result.
    @discardableResult
    func connect(
        session: String, device: DeviceID, kind: ChannelKind, source: Int, offer: String? = nil,
        as account: Principal?, receiver: any Receiver
    ) async throws(IoTError) -> CallAcceptance {
        try calls.add(receiver, session: session, device: device)
        do throws(IoTError) {
            let granted = try await link.request(
                CallMethod.token, CallTokenQuery(device: device, kind: kind, actions: [.view]), as: account)
            return try await link.request(
                CallMethod.connect,
                CallRequest(
                    device: device, kind: kind, source: Int64(source), session: session, offer: offer,
                    token: granted.token), as: account)
        } catch {
            calls.remove(session: session)
            throw error
        }
    }

    /// Tells the device one of the caller's candidates, as `candidate:…`; empty text ends them.
    func trickle(
        session: String, device: DeviceID, as account: Principal?, candidate: String
    ) async throws(IoTError) {
        _ = try await link.request(
            CallMethod.trickle,
            CallCandidate(CallRoute(peer: .device(device), session: session), candidate: candidate),
            timeout: .seconds(2), as: account)
    }

    /// Tells the device what is wanted of a standing call.
    func control(
        session: String, device: DeviceID, as account: Principal?, _ command: CallCommand
    ) async throws(IoTError) {
        _ = try await link.request(
            CallMethod.control, CallControl(CallRoute(peer: .device(device), session: session), command), as: account)
    }

    /// The device ended the call itself.
    func forget(session: String) {
        calls.remove(session: session)
    }

    /// Hangs up; the device may be gone already.
    func end(session: String, device: DeviceID, as account: Principal?) async {
        calls.remove(session: session)
        _ = try? await link.request(
            CallMethod.end,
            CallEnding(CallRoute(peer: .device(device), session: session), IoTError(.hungUp, "the viewer left")),
            timeout: .seconds(2), as: account)
    }
}
