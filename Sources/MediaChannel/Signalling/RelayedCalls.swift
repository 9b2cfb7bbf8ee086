public import IoTCore
public import IoTLink
public import PeerTransport
import Synchronization

/// Calls that the gateway makes for a browser. It relays descriptions and candidates; media go directly between the
/// browser and the device, encrypted with keys that the gateway does not have.
public final class RelayedCalls: Sendable {
    /// A device's answer to an offer.
    public struct Answer: Sendable {
        /// The call's id: 32 random hex digits.
        public let id: String
        /// SDP.
        public let description: String
        /// ICE servers for the caller, in the device's order of preference.
        public let iceServers: [ICEServer]
        /// How the gateway's account learned the key with which the device has signed the description; `nil` if the
        /// description is not verified.
        public let keySource: KeySource?

        public init(
            id: String, description: String, iceServers: [ICEServer] = [], keySource: KeySource? = nil
        ) {
            self.id = id
            self.description = description
            self.iceServers = iceServers
            self.keySource = keySource
        }
    }

    /// An existing call.
    public struct Call: Sendable {
        public let id: String
        public let device: DeviceID
        /// The account that an administrator's session called for; `nil` for its own.
        public let account: Principal?
        /// Identifies the caller's candidates (RFC 8839 §5.4).
        public let iceUfrag: String
        fileprivate let opened: ContinuousClock.Instant
        /// Kept until the call has ended.
        fileprivate let right: any Sendable
    }

    private let calls: CallClient
    private let state = Mutex<[String: Call]>([:])

    public init(calls: CallClient) {
        self.calls = calls
    }

    public var all: [Call] { state.withLock { Array($0.values) } }

    public static func makeID() -> String { Hex.random(byteCount: 16) }

    /// Calls a device with an offer; returns when the device has taken the call.
    ///
    /// The caller of this method must limit the number of calls. No call is dropped in favour of another.
    ///
    /// - Parameters:
    ///   - id: an id from `makeID`.
    ///   - actions: what the call may be used for.
    ///   - definition: the wanted definitions, as in `WantedDefinition.list`.
    ///   - account: the account that an administrator's session calls for; `nil` for its own.
    ///   - right: an object that is kept until the call has ended.
    /// - Throws: the device's error: 25016 if the offer contains none of the camera's codecs, 25021 for an invalid
    ///   offer.
    public func open(
        _ id: String, device: DeviceID, kind: ChannelKind, source: ChannelSource, actions: [CallAction] = [.view],
        definition: String? = nil,
        offer: String, as account: Principal?, right: any Sendable
    ) async throws(IoTError) -> Answer {
        let iceUfrag = try SessionDescription(parsing: offer).iceUfrag
        state.withLock { calls in
            calls[id] = Call(
                id: id, device: device, account: account, iceUfrag: iceUfrag, opened: .now, right: right)
        }
        do throws(IoTError) {
            let taken = try await calls.connect(
                session: id, device: device, kind: kind, source: source, actions: actions,
                definition: definition, offer: offer, as: account, receiver: Listener(calls: self, id: id))
            // The call was closed while the device was being asked; the end may have reached the device first.
            guard state.withLock({ $0[id] != nil }) else {
                await calls.end(session: id, device: device, as: account)
                throw IoTError(.hungUp, "the call was ended before it was established")
            }
            guard let answer = taken.acceptance.answer else {
                await calls.end(session: id, device: device, as: account)
                throw IoTError(.notImplemented, "this device does not support a browser's offer")
            }
            return Answer(
                id: id, description: answer, iceServers: ICEServers.list(taken.acceptance.iceServers),
                keySource: taken.keySource)
        } catch {
            forget(id)
            throw error
        }
    }

    /// Adds one of the caller's candidates, as `candidate:…`; empty text marks the end of the candidates.
    ///
    /// - Throws: 25003 if the call has ended.
    public func trickle(_ id: String, candidate: String) async throws(IoTError) {
        let call = try call(id)
        try await calls.trickle(session: id, device: call.device, as: call.account, candidate: candidate)
    }

    /// Hangs up. Has no effect if the call has ended.
    public func close(_ id: String) async {
        guard let call = state.withLock({ $0.removeValue(forKey: id) }) else { return }
        await calls.end(session: id, device: call.device, as: call.account)
    }

    public func closeAll() async {
        for id in state.withLock({ Array($0.keys) }) { await close(id) }
    }

    /// - Throws: 25003 if the call does not exist or has ended.
    public func call(_ id: String) throws(IoTError) -> Call {
        guard let call = state.withLock({ $0[id] }) else {
            throw IoTError(.notFound, "the call does not exist or has ended", remedy: "call again")
        }
        return call
    }

    private func forget(_ id: String) {
        // The call's `right` is released outside the lock.
        let call = state.withLock { $0.removeValue(forKey: id) }
        calls.forget(session: id)
        withExtendedLifetime(call) {}
    }

    /// Removes calls that their devices no longer know: a restarted device does not report it.
    public func forgetLost() async {
        for call in all where call.opened.duration(to: .now) > .seconds(60) {
            do {
                // The end of candidates may be sent again without effect.
                try await calls.trickle(session: call.id, device: call.device, as: call.account, candidate: "")
            } catch {
                if error.code == .callTargetNotFound { forget(call.id) }
            }
        }
    }

    /// Handles the device's messages for one call.
    private final class Listener: CallClient.Receiver {
        private let calls: RelayedCalls
        private let id: String

        init(calls: RelayedCalls, id: String) {
            self.calls = calls
            self.id = id
        }

        func invited(
            offer: SessionDescription, iceServers: [ICEServer]
        ) async throws(IoTError) -> SessionDescription {
            throw IoTError(
                .operationNotAllowed, "the call already has the caller's offer", remedy: "answer that offer")
        }

        // The device's answer contains all its candidates, and HTTP has no way to send more.
        func trickled(candidate: String) {}

        func ended(_ reason: IoTError) {
            calls.forget(id)
        }
    }
}
