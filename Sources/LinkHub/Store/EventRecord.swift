import IoTCore
import ThingModel

/// A row of an event.
struct EventRecord: Sendable, Hashable {
    /// Its id for users.
    var number: Int64
    var device: DeviceID
    var topic: String
    /// ms since 1970.
    var t: Int64
    /// JSON; some queries leave it empty.
    var body: String
}

/// The number of events of each device, and the last event number. The events themselves are only on the disk.
struct EventCounts: Sendable {
    /// The maximum number of events that are kept for one device.
    static let capacity = 10_000

    private var counts: [DeviceID: Int] = [:]
    private(set) var total = 0
    private(set) var last: Int64 = 0

    subscript(device: DeviceID) -> Int { counts[device] ?? 0 }

    /// - Returns: The new event's number.
    mutating func add(_ device: DeviceID) -> Int64 {
        counts[device, default: 0] += 1
        total += 1
        last += 1
        return last
    }

    mutating func remove(_ device: DeviceID, _ count: Int = 1) {
        let known = counts[device] ?? 0
        let removed = min(known, count)
        counts[device] = known == removed ? nil : known - removed
        total -= removed
    }

    mutating func forget(_ device: DeviceID) {
        total -= counts.removeValue(forKey: device) ?? 0
    }

    mutating func restore(_ counts: [DeviceID: Int], last: Int64) {
        self.counts = counts
        self.last = last
        total = counts.values.reduce(0, +)
    }
}
