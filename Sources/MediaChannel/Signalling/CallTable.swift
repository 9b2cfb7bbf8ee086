import Foundation
import IoTCore
import IoTLink

/// The calls that wait for what their devices send.
///
/// `@unchecked Sendable`: the table is behind `lock`.
final class CallTable: @unchecked Sendable {
    /// More calls at once than any gateway's connections.
    static let limit = 1024

    private let lock = NSLock()
    private var calls: [String: (device: DeviceID, receiver: any CallClient.Receiver)] = [:]

    func add(_ receiver: any CallClient.Receiver, session: String, device: DeviceID) throws(IoTError) {
        let added = lock.withLock {
            guard calls.count < Self.limit, calls[session] == nil else { return false }
            calls[session] = (device, receiver)
            return true
        }
        guard added else { throw IoTError(.tooManyConnections) }
    }

    func remove(session: String) {
        lock.withLock { _ = calls.removeValue(forKey: session) }
    }

    /// The call that a device's message is about: only the called device may speak in it.
    func receiver(of route: CallRoute, from sender: Principal?) throws(IoTError) -> any CallClient.Receiver {
        guard let call = lock.withLock({ calls[route.session] }), sender?.deviceID == call.device
        else { throw IoTError(.callTargetNotFound, "there is no such call") }
        return call.receiver
    }
}
