import IoTCore
import Synchronization

/// Repeats the first description of a device with its proof, in place of each later one.
final class Earlier: Sendable {
    private let first = Mutex<[HubInBetween.Message: JSONValue]>([:])

    func replay(_ message: HubInBetween.Message, _ value: JSONValue) -> JSONValue {
        guard [.invite, .accepted].contains(message), value["signature"] != nil else { return value }
        let old = first.withLock { first in
            defer { if first[message] == nil { first[message] = value } }
            return first[message]
        }
        var value = value
        for (name, part) in old?.objectValue ?? [:] where ["offer", "answer", "key", "signature"].contains(name) {
            value[name] = part
        }
        return value
    }
}
