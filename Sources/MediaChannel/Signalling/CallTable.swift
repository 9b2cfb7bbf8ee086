import IoTCore
import IoTLink
import Synchronization

/// The calls that wait for what their devices send.
final class CallTable: Sendable {
    /// More calls at once than any gateway's connections.
    static let limit = 1024

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

    /// The call that a device's message is about: only the called device may speak in it.
    func receiver(of route: CallRoute, from sender: Principal?) throws(IoTError) -> any CallClient.Receiver {
        guard let call = calls.withLock({ $0[route.session] }), sender?.deviceID == call.device
        else { throw IoTError(.callTargetNotFound, "there is no such call") }
        return call.receiver
    }
}
