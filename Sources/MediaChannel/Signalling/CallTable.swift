import IoTCore
import IoTLink
import Synchronization

/// The calls that receive messages from their devices.
final class CallTable: Sendable {
    /// The maximum number of calls. It is above the maximum of a configuration: 1,024 `channels.connections` and 1,000
    /// `channels.calls`.
    static let limit = 2048

    private let calls = Mutex<[String: (device: DeviceID, receiver: any CallClient.Receiver)]>([:])

    func add(_ receiver: any CallClient.Receiver, session: String, device: DeviceID) throws(IoTError) {
        let added = calls.withLock { calls in
            guard calls.count < Self.limit, calls[session] == nil else { return false }
            calls[session] = (device, receiver)
            return true
        }
        guard added else { throw IoTError(.tooManyConnections) }
    }

    func remove(session: String) {
        calls.withLock { _ = $0.removeValue(forKey: session) }
    }

    /// Returns the receiver of a device's message; only the called device may send messages for a call.
    func receiver(of route: CallRoute, from sender: Principal?) throws(IoTError) -> any CallClient.Receiver {
        guard let call = calls.withLock({ $0[route.session] }), sender?.deviceID == call.device
        else { throw IoTError(.callTargetNotFound, "the call does not exist") }
        return call.receiver
    }
}
