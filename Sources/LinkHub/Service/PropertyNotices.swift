import IoTCore
import ThingModel

/// The properties that a transaction changed. Only the last value of each is sent, so a flood of writes to one property
/// costs its users one message a transaction.
struct PropertyNotices: Sendable {
    private struct Key: Hashable {
        var device: DeviceID
        var path: String
    }

    private var order: [Key] = []
    private var updates: [Key: PropertyNotice] = [:]

    mutating func add(_ update: PropertyNotice) {
        let key = Key(device: update.device, path: update.change.path)
        if let old = updates[key] {
            var merged = update
            merged.isForDevice = update.isForDevice || old.isForDevice
            // Users compare with the last value that they received.
            merged.change.previous = old.change.previous
            updates[key] = merged
        } else {
            order.append(key)
            updates[key] = update
        }
    }

    mutating func take() -> [PropertyNotice] {
        let taken = order.compactMap { updates[$0] }
        order = []
        updates = [:]
        return taken
    }
}
