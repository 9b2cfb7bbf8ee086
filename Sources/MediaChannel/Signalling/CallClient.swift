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
        link.handle(CallMethod.invite) { [calls] _, request async throws(IoTError) in
            let call = try calls.receiver(of: request)
            guard let text = request.params["offer"]?.stringValue else {
                throw IoTError(.sessionDescriptionInvalid, "the invitation holds no offer")
            }
            let answer = try await call.invited(
                offer: try SessionDescription(parsing: text),
                iceServers: ICEServers.listToAsk(request.params["iceServers"]))
            return ["answer": .string(answer.text)]
        }
        link.handle(CallMethod.trickle) { [calls] _, request async throws(IoTError) in
            try calls.receiver(of: request).trickled(candidate: request.params["candidate"]?.stringValue ?? "")
            return .object([:])
        }
        link.handle(CallMethod.end) { [calls] _, request async throws(IoTError) in
            let code = request.params["code"]?.integerValue ?? Int64(ErrorCode.hungUp.rawValue)
            let reason = IoTError(
                ErrorCode(rawValue: Int(clamping: code)), request.params["message"]?.stringValue)
            try calls.receiver(of: request).ended(reason)
            return .object([:])
        }
    }

    /// Calls a device, in another account's name if one is given; its offer reaches `receiver`. Answers when the device took the call.
    ///
    /// - Parameter offer: the caller's own; then the device makes none, and its answer stands in the result.
    @discardableResult
    func connect(
        session: String, device: DeviceID, kind: ChannelKind, source: Int, offer: String? = nil,
        as account: Principal?, receiver: any Receiver
    ) async throws(IoTError) -> JSONValue {
        try calls.add(receiver, session: session, device: device)
        do throws(IoTError) {
            let granted = try await link.request(
                CallMethod.token,
                ["device": .string(device.rawValue), "kind": .integer(Int64(kind.rawValue)), "actions": ["view"]],
                as: account)
            guard let token = granted["token"] else { throw IoTError(.callTokenInvalid, "the hub sent no token") }
            var params: JSONValue = [
                "device": .string(device.rawValue), "kind": .integer(Int64(kind.rawValue)),
                "source": .integer(Int64(source)), "session": .string(session), "token": token,
            ]
            if let offer { params["offer"] = .string(offer) }
            return try await link.request(CallMethod.connect, params, as: account)
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
            [
                "peer": .string(Principal.device(device).description), "session": .string(session),
                "candidate": .string(candidate),
            ], timeout: .seconds(2), as: account)
    }

    /// Tells the device what is wanted of a standing call.
    func control(
        session: String, device: DeviceID, as account: Principal?, _ command: CallCommand
    ) async throws(IoTError) {
        _ = try await link.request(
            CallMethod.control,
            [
                "peer": .string(Principal.device(device).description), "session": .string(session),
                "command": .string(command.rawValue),
            ], as: account)
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
            [
                "peer": .string(Principal.device(device).description), "session": .string(session),
                "code": .integer(Int64(ErrorCode.hungUp.rawValue)), "message": "the viewer left",
            ], timeout: .seconds(2), as: account)
    }
}
