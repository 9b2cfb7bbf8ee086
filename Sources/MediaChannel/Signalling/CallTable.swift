import IoTCore
import IoTLink
import Synchronization

/// The calls that receive messages from their devices.
final class CallTable: Sendable {
    struct Call: Sendable {
        let identity: CallIdentity
        let receiver: any CallClient.Receiver
        /// The result of the check of the device's description; `nil` before it.
        var verification: Result<KeySource?, IoTError>?
    }

    /// The maximum number of calls. It is above the maximum of a configuration: 1,024 `channels.connections` and 1,000
    /// `channels.calls`.
    static let limit = 2048

    private let calls = Mutex<[String: Call]>([:])

    func add(_ receiver: any CallClient.Receiver, _ identity: CallIdentity) throws(IoTError) {
        let added = calls.withLock { calls in
            guard calls.count < Self.limit, calls[identity.session] == nil else { return false }
            calls[identity.session] = Call(identity: identity, receiver: receiver)
            return true
        }
        guard added else { throw IoTError(.tooManyConnections) }
    }

    func remove(session: String) {
        calls.withLock { _ = $0.removeValue(forKey: session) }
    }

    subscript(session: String) -> Call? { calls.withLock { $0[session] } }

    /// Keeps the result of the check of a call's description. A failure stays.
    func keep(_ verification: Result<KeySource?, IoTError>, session: String) {
        calls.withLock { calls in
            if case .failure? = calls[session]?.verification { return }
            calls[session]?.verification = verification
        }
    }

    /// Returns the call of a device's message; only the called device may send messages for a call.
    func call(of route: CallRoute, from sender: Principal?) throws(IoTError) -> Call {
        guard let call = self[route.session], sender?.deviceID == call.identity.device
        else { throw IoTError(.callTargetNotFound, "the call does not exist") }
        return call
    }
}
