public import IoTCore
public import IoTLink
public import PeerTransport
import Synchronization

/// Calls that the gateway makes for another, a browser: it passes descriptions and candidates on, while media go
/// directly between the two, and with keys that the gateway does not have.
public final class RelayedCalls: Sendable {
    /// A device's answer to an offer.
    public struct Answer: Sendable {
        /// The call's id: 32 random hex digits.
        public let id: String
        /// SDP.
        public let description: String
        /// What helps the caller to find a way, in the order of the device's wish.
        public let iceServers: [ICEServer]

        public init(id: String, description: String, iceServers: [ICEServer] = []) {
            self.id = id
            self.description = description
            self.iceServers = iceServers
        }
    }

    /// A call under way.
    public struct Call: Sendable {
        public let id: String
        public let device: DeviceID
        /// In whose name an administrator's session called; `nil` for its own.
        public let account: Principal?
        /// By which the caller's candidates are known (RFC 8839 §5.4).
        public let iceUfrag: String
        fileprivate let opened: ContinuousClock.Instant
        /// Kept until the call is over.
        fileprivate let right: any Sendable
    }

    private let calls: CallClient
    private let state = Mutex<[String: Call]>([:])

    public init(calls: CallClient) {
        self.calls = calls
    }

    public var all: [Call] { state.withLock { Array($0.values) } }

    public static func makeID() -> String { Hex.random(byteCount: 16) }

    /// Calls a device with an offer; answers when the device took the call.
    ///
    /// How many calls there may be is for who opens them to bound. None is ever forgotten for another.
    ///
    /// - Parameters:
    ///   - id: of `makeID`.
    ///   - account: in whose name an administrator's session calls; `nil` for its own.
    ///   - right: what is to be kept until the call is over.
    /// - Throws: what the device answers: 25016 when the offer holds no codec of
    ///   the camera's, 25021 for an offer that cannot be used.
    public func open(
        _ id: String, device: DeviceID, source: Int, offer: String, as account: Principal?, right: any Sendable
    ) async throws(IoTError) -> Answer {
        let iceUfrag = try SessionDescription(parsing: offer).iceUfrag
        state.withLock { calls in
            calls[id] = Call(
                id: id, device: device, account: account, iceUfrag: iceUfrag, opened: .now, right: right)
        }
        do throws(IoTError) {
            let accepted = try await calls.connect(
                session: id, device: device, kind: .monitor, source: source, offer: offer, as: account,
                receiver: Listener(calls: self, id: id))
            // Closed while the device was being asked, which may have heard of the end first.
            guard state.withLock({ $0[id] != nil }) else {
                await calls.end(session: id, device: device, as: account)
                throw IoTError(.hungUp, "the call was ended before it stood")
            }
            guard let answer = accepted.answer else {
                await calls.end(session: id, device: device, as: account)
                throw IoTError(.notImplemented, "this device does not take a browser's offer")
            }
            return Answer(id: id, description: answer, iceServers: ICEServers.list(accepted.iceServers))
        } catch {
            forget(id)
            throw error
        }
    }

    /// One of the caller's candidates, as `candidate:…`; empty text ends them.
    ///
    /// - Throws: 25003 when the call is over.
    public func trickle(_ id: String, candidate: String) async throws(IoTError) {
        let call = try call(id)
        try await calls.trickle(session: id, device: call.device, as: call.account, candidate: candidate)
    }

    /// Hangs up. One that is over already is none.
    public func close(_ id: String) async {
        guard let call = state.withLock({ $0.removeValue(forKey: id) }) else { return }
        await calls.end(session: id, device: call.device, as: call.account)
    }

    public func closeAll() async {
        for id in state.withLock({ Array($0.keys) }) { await close(id) }
    }

    /// - Throws: 25003 when there is no such call any more.
    public func call(_ id: String) throws(IoTError) -> Call {
        guard let call = state.withLock({ $0[id] }) else {
            throw IoTError(.notFound, "there is no such call, or it is over", remedy: "call again")
        }
        return call
    }

    private func forget(_ id: String) {
        // What the call kept is let go outside the lock.
        let call = state.withLock { $0.removeValue(forKey: id) }
        calls.forget(session: id)
        withExtendedLifetime(call) {}
    }

    /// Forgets the calls that their devices no longer know: one that was restarted does not say so.
    public func forgetLost() async {
        for call in all where call.opened.duration(to: .now) > .seconds(60) {
            do {
                // Empty text ends the candidates, which it may do again.
                try await calls.trickle(session: call.id, device: call.device, as: call.account, candidate: "")
            } catch {
                if error.code == .callTargetNotFound { forget(call.id) }
            }
        }
    }

    /// What the device sends to one call.
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
                .operationNotAllowed, "the caller has made the offer itself", remedy: "answer that offer")
        }

        // All of the device's candidates stand in its answer, and HTTP has no way to tell of more.
        func trickled(candidate: String) {}

        func ended(_ reason: IoTError) {
            calls.forget(id)
        }
    }
}
