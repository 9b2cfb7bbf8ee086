import GatewayAPI
import IoTCore
import Synchronization
import ThingModel

/// The first value and all later changes below one path of one device.
struct PropertyWatch<Updates: AsyncSequence<ModelUpdate, Never> & Sendable>: Sendable {
    private let updates: Updates
    private let device: DeviceID
    private let path: PropertyPath
    private let mayView: @Sendable () async -> Bool

    /// - Parameter mayView: called before each event. The watch ends with 8003 if it returns false.
    init(_ updates: Updates, device: DeviceID, path: PropertyPath, mayView: @escaping @Sendable () async -> Bool) {
        self.updates = updates
        self.device = device
        self.path = path
        self.mayView = mayView
    }

    /// Driven by its reader: it has no queue and no task.
    func events(first: PropertyUpdate) -> AsyncStream<DeviceEvent> {
        let pending = PendingFirst(first)
        let end = PendingEnd()
        return AsyncStream(unfolding: {
            if end.isOver { return nil }
            if let first = pending.take() { return .update(first) }
            for await update in updates {
                guard let event = translate(update) else { continue }
                if await mayView() { return event }
                end.end()
                return .failed(APIError(IoTError(.relationInvalid, "this account may no longer view the device")))
            }
            return nil
        })
    }

    private func translate(_ update: ModelUpdate) -> DeviceEvent? {
        guard update.device == device else { return nil }
        switch update {
        case .presence(_, let isOnline):
            return .presence(DevicePresence(device: device.rawValue, online: isOnline))
        case .property(_, let change):
            guard let changed = try? PropertyPath(parsing: change.path) else { return nil }
            guard path.propertyClass == nil || path.propertyClass == changed.propertyClass,
                path.object == nil || path.object == changed.object
            else { return nil }
            let leaves = change.leaves.map { GatewayAPI.LeafChange(path: $0.path, value: $0.value ?? .null) }
            return .update(
                PropertyUpdate(
                    device: device.rawValue, path: change.path, value: change.value, version: change.version,
                    changes: leaves.isEmpty ? nil : leaves))
        }
    }
}

/// Holds the first event until it is taken.
private final class PendingFirst: Sendable {
    private let update: Mutex<PropertyUpdate?>

    init(_ update: PropertyUpdate) {
        self.update = Mutex(update)
    }

    func take() -> PropertyUpdate? {
        update.withLock { stored in
            defer { stored = nil }
            return stored
        }
    }
}
