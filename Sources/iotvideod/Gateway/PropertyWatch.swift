import GatewayAPI
import IoTCore
import Synchronization
import ThingModel

/// The changes below one path of one device, behind the value that stood there first.
struct PropertyWatch<Updates: AsyncSequence<ModelUpdate, Never> & Sendable>: Sendable {
    private let updates: Updates
    private let device: DeviceID
    private let path: PropertyPath

    init(_ updates: Updates, device: DeviceID, path: PropertyPath) {
        self.updates = updates
        self.device = device
        self.path = path
    }

    /// Pulled by its reader: it has no queue and no task of its own.
    func events(first: PropertyUpdate) -> AsyncStream<DeviceEvent> {
        let pending = PendingFirst(first)
        return AsyncStream(unfolding: {
            if let first = pending.take() { return .update(first) }
            for await update in updates {
                if let event = translate(update) { return event }
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
            return .update(
                PropertyUpdate(
                    device: device.rawValue, path: change.path, value: change.value, version: change.version))
        }
    }
}

/// The first event, until it is taken.
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
