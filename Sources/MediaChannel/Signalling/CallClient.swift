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

    /// A call that the device has taken.
    struct Taken {
        var acceptance: CallAcceptance
        /// How the account learned the key with which the device has signed its description; `nil` if the description is
        /// not verified.
        var keySource: KeySource?
    }

    private let link: any AccountRequester & LinkResponding
    private let check: DescriptionCheck
    private let key: DeviceKey?
    private let calls = CallTable()

    /// Handles the messages of devices on this link; create only one client per link.
    public convenience init(link: LinkSession) {
        self.init(link: link, key: nil, trust: NoDeviceTrust())
    }

    /// - Parameters:
    ///   - key: signs our descriptions; `nil` to sign none.
    ///   - trust: decides whether a description comes from the called device.
    package init(link: any AccountRequester & LinkResponding, key: DeviceKey?, trust: any DeviceTrust) {
        self.link = link
        self.key = key
        check = DescriptionCheck(trust: trust)
        attach()
    }

    private func attach() {
        link.handle(CallMethod.invite) { [calls, check, key] invitation, request async throws(IoTError) in
            let call = try calls.call(of: invitation.route, from: request.from)
            do throws(IoTError) {
                let source = try await check.verify(invitation.offer, invitation.proof, of: call.identity)
                calls.keep(.success(source), session: call.identity.session)
            } catch {
                calls.keep(.failure(error), session: call.identity.session)
                throw error
            }
            let answer = try await call.receiver.invited(
                offer: try SessionDescription(parsing: invitation.offer),
                iceServers: ICEServers.listToAsk(invitation.iceServers))
            let text = answer.text
            let statement = call.identity.statement(of: text, by: .caller, answering: invitation.offer)
            return CallAnswer(answer: text, proof: try key?.prove(statement))
        }
        link.handle(CallMethod.trickle) { [calls] message, request async throws(IoTError) in
            try calls.call(of: message.route, from: request.from).receiver.trickled(candidate: message.candidate)
            return LinkNothing()
        }
        link.handle(CallMethod.end) { [calls] ending, request async throws(IoTError) in
            try calls.call(of: ending.route, from: request.from).receiver.ended(ending.reason)
            return LinkNothing()
        }
    }

    /// Calls a device, in another account's name if one is given. The device's offer goes to `receiver`. Returns when
    /// the device has taken the call.
    ///
    /// - Parameters:
    ///   - actions: what the call may be used for.
    ///   - definition: the wanted definitions, as in `WantedDefinition.list`.
    ///   - offer: the caller's own offer; the device then makes none, and its answer is in the result.
    @discardableResult
    func connect(
        session: String, device: DeviceID, kind: ChannelKind, source: ChannelSource, actions: [CallAction],
        definition: String?,
        offer: String? = nil, as account: Principal?, receiver: any Receiver
    ) async throws(IoTError) -> Taken {
        let identity = CallIdentity(
            device: device, caller: account ?? link.principal, session: session, kind: kind, source: source)
        try calls.add(receiver, identity)
        let acceptance: CallAcceptance
        do throws(IoTError) {
            let granted = try await link.request(
                CallMethod.token, CallTokenQuery(device: device, kind: kind, actions: actions), as: account)
            acceptance = try await link.request(
                CallMethod.connect,
                CallRequest(
                    device: device, kind: kind, source: source, session: session, offer: offer,
                    proof: try offer.flatMap { offer throws(IoTError) in
                        try key?.prove(identity.statement(of: offer, by: .caller))
                    },
                    definition: definition, token: granted.token), as: account)
        } catch {
            let verification = calls[session]?.verification
            calls.remove(session: session)
            // What was found here counts more than what the hub answers.
            if case .failure(let refusal)? = verification { throw refusal }
            // Nobody answered: whether the call was delivered is not known. The hub reports a silent device as 20001.
            guard error.code == .messageTimeout else { throw error }
            throw IoTError(
                .callSendTimeout, "the call could not be delivered in time: \(error.message)", underlying: error)
        }
        do throws(IoTError) {
            let keySource =
                if let offer, let answer = acceptance.answer {
                    try await check.verify(answer, acceptance.proof, answering: offer, of: identity)
                } else {
                    try calls[session]?.verification?.get() ?? nil
                }
            return Taken(acceptance: acceptance, keySource: keySource)
        } catch {
            await end(session: session, device: device, as: account)
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
