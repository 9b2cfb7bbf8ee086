import IoTCore
import ThingModel

/// The types of an event as the SDK's bits.
enum StorageEventType {
    /// There are recordings of the event.
    static let video = Int64(DetectionType.hasVideo)

    /// Other names than those of `DetectionType`.
    private static let names: [String: DetectionType] = ["livecall": .call, "pir": .infrared]

    /// The body's `alarmType`, or else the topic's bit; 0 for an event of another kind. Never bit 15.
    static func mask(topic: String, body: JSONValue) -> Int64 {
        let name = (topic.split(separator: "/").last ?? "").lowercased()
        let known = DetectionType(rawValue: name) ?? names[name]
        let own = body["alarmType"]?.integerValue.flatMap { UInt32(exactly: $0) }.map(Int64.init)
        return (own ?? known.map { Int64($0.mask) } ?? 0) & ~video
    }

    /// Whether the bits satisfy each mask: one of a mask's bits is enough.
    static func satisfies(_ bits: Int64, _ masks: [Int64]) -> Bool {
        masks.allSatisfy { $0 & bits != 0 }
    }
}
