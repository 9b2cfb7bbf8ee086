import IoTCore
import IoTLink
import Synchronization
import ThingModel

@testable import MediaChannel

/// A hub in the test's process, between gateways and one camera. It gives a call token to everybody, and may change each
/// description that it forwards, as a hub that somebody has taken over.
final class HubInBetween: Sendable {
    /// A message with a description.
    enum Message: Sendable {
        /// The caller's offer.
        case connect
        /// The device's answer.
        case accepted
        /// The device's offer.
        case invite
        /// The caller's answer.
        case answered
    }

    typealias Change = @Sendable (Message, JSONValue) -> JSONValue

    private let tokens = SignedTokens()
    private let change = Mutex<Change?>(nil)
    private let sides = Mutex<[Principal: Side]>([:])
    /// The side that has made each call.
    private let callers = Mutex<[String: Side]>([:])
    let device: DeviceID

    init(device: DeviceID) {
        self.device = device
    }

    /// Changes descriptions from now on.
    func attack(_ change: Change?) {
        self.change.withLock { $0 = change }
    }

    /// The link of a gateway's account, or of the camera.
    func link(of principal: Principal) throws -> Side {
        let side = Side(principal, hub: self, tokenKeys: try tokens.keys)
        if principal.kind == .device { sides.withLock { $0[principal] = side } }
        return side
    }

    private func changed(_ message: Message, _ value: JSONValue) -> JSONValue {
        change.withLock { $0 }?(message, value) ?? value
    }

    fileprivate func request(_ method: String, _ params: JSONValue, by side: Side) async throws(IoTError) -> JSONValue {
        let session = params["session"]?.stringValue ?? ""
        let camera = sides.withLock { $0[.device(device)] }
        switch method {
        case CallMethod.token.name:
            return ["token": .string(try token(params, for: side.principal)), "expires": 2_000_000_000]
        case CallMethod.connect.name:
            callers.withLock { $0[session] = side }
            let result = try await camera?.receive(method, from: side.principal, changed(.connect, params))
            return changed(.accepted, result ?? [:])
        case CallMethod.invite.name:
            let caller = callers.withLock { $0[session] }
            let result = try await caller?.receive(method, from: side.principal, changed(.invite, params))
            return changed(.answered, result ?? [:])
        default:
            let target = side.principal.kind == .user ? camera : callers.withLock { $0[session] }
            return try await target?.receive(method, from: side.principal, params) ?? [:]
        }
    }

    private func token(_ params: JSONValue, for caller: Principal) throws(IoTError) -> String {
        let claims: JSONValue = [
            "kind": "call", "sub": .string("d/\(device)"), "from": .string(caller.description),
            "channel": params["kind"] ?? .null, "actions": params["actions"] ?? .null, "owner": true, "jti": "1",
            "iat": 0, "exp": 9_000_000_000,
        ]
        do {
            return try tokens.sign(claims)
        } catch {
            throw IoTError(.internalFailure, underlying: error)
        }
    }

    /// One principal's link with the hub.
    final class Side: CameraLink {
        let principal: Principal
        let tokenKeys: TokenKeys?
        var hubTime: Int64 { WallClock.milliseconds() }
        private let hub: HubInBetween
        private let handlers = Mutex<[String: LinkSession.Handler]>([:])

        fileprivate init(_ principal: Principal, hub: HubInBetween, tokenKeys: TokenKeys) {
            self.principal = principal
            self.hub = hub
            self.tokenKeys = tokenKeys
        }

        func handle(_ method: String, _ handler: @escaping LinkSession.Handler) {
            handlers.withLock { $0[method] = handler }
        }

        func request(
            _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
        ) async throws(IoTError) -> JSONValue {
            try await hub.request(method, params, by: self)
        }

        fileprivate func receive(
            _ method: String, from sender: Principal, _ params: JSONValue
        ) async throws(IoTError) -> JSONValue {
            guard let handler = handlers.withLock({ $0[method] }) else { throw IoTError(.deviceOffline) }
            return try await handler(
                LinkRequest(id: "1", method: method, from: sender, params: params, t: 0, deadline: .max))
        }
    }
}

extension JSONValue {
    /// This message with another fingerprint in its description.
    func withFingerprint(_ other: String) -> JSONValue {
        var message = self
        for name in ["offer", "answer"] {
            guard let text = self[name]?.stringValue else { continue }
            message[name] = .string(text.replacing(#/a=fingerprint:sha-256 [0-9A-F:]+/#, with: other))
        }
        return message
    }
}
