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

    /// The browsers' connections are not the gateway's, so `channels.connections` does not bound them. One more, and the
    /// oldest is forgotten, of which neither side may have said that it is over; its media would go on.
    public static let limit = 256

    /// A call under way.
    public struct Call: Sendable {
        public let id: String
        public let device: DeviceID
        /// In whose name an administrator's session called; `nil` for its own.
        public let account: Principal?
        /// By which the caller's candidates are known (RFC 8839 §5.4).
        public let iceUfrag: String
        /// What the caller's right hangs on, in the words of who opened the call.
        public let right: String?
        fileprivate let number: Int
    }

    private let calls: CallClient
    private let state = Mutex<(calls: [String: Call], opened: Int)>(([:], 0))

    init(calls: CallClient) {
        self.calls = calls
    }

    public var all: [Call] { state.withLock { Array($0.calls.values) } }

    /// Calls a device with an offer; answers when the device took the call.
    ///
    /// - Parameters:
    ///   - account: in whose name an administrator's session calls; `nil` for its own.
    ///   - right: what the caller's right hangs on, for whoever looks after the calls.
    /// - Throws: what the device answers: 25016 when the offer holds no codec of
    ///   the camera's, 25021 for an offer that cannot be used.
    public func open(
        device: DeviceID, source: Int, offer: String, as account: Principal?, right: String? = nil
    ) async throws(IoTError) -> Answer {
        let iceUfrag = try SessionDescription(parsing: offer).iceUfrag
        let id = Hex.random(byteCount: 16)
        let oldest = state.withLock { state in
            state.opened += 1
            state.calls[id] = Call(
                id: id, device: device, account: account, iceUfrag: iceUfrag, right: right, number: state.opened)
            return state.calls.count > Self.limit ? state.calls.min { $0.value.number < $1.value.number }?.key : nil
        }
        if let oldest { forget(oldest) }
        do throws(IoTError) {
            let result = try await calls.connect(
                session: id, device: device, kind: .monitor, source: source, offer: offer, as: account,
                receiver: Listener(owner: self, id: id))
            guard let answer = result["answer"]?.stringValue else {
                await calls.end(session: id, device: device, as: account)
                throw IoTError(.notImplemented, "this device does not take a browser's offer")
            }
            return Answer(id: id, description: answer, iceServers: ICEServers.list(result["iceServers"]))
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
        guard let call = state.withLock({ $0.calls.removeValue(forKey: id) }) else { return }
        await calls.end(session: id, device: call.device, as: call.account)
    }

    public func closeAll() async {
        for id in state.withLock({ Array($0.calls.keys) }) { await close(id) }
    }

    /// - Throws: 25003 when there is no such call any more.
    public func call(_ id: String) throws(IoTError) -> Call {
        guard let call = state.withLock({ $0.calls[id] }) else {
            throw IoTError(.notFound, "there is no such call, or it is over", remedy: "call again")
        }
        return call
    }

    private func forget(_ id: String) {
        state.withLock { _ = $0.calls.removeValue(forKey: id) }
        calls.forget(session: id)
    }

    /// What the device sends to one call.
    private final class Listener: CallClient.Receiver {
        private let owner: RelayedCalls
        private let id: String

        init(owner: RelayedCalls, id: String) {
            self.owner = owner
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
            owner.forget(id)
        }
    }
}
