import IoTCore
import Synchronization

/// Names of devices as last heard, for what people read; the hub's word counts.
final class DeviceNames: Sendable {
    private let names = Mutex<[DeviceID: String]>([:])
    private static let limit = 4096

    func name(of device: DeviceID) -> String? {
        names.withLock { $0[device] }
    }

    func remember(_ name: String, of device: DeviceID) {
        names.withLock { names in
            if names.count >= Self.limit { names.removeAll() }
            names[device] = name
        }
    }
}
