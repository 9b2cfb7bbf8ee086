import IoTCore
import ThingModel

/// The types of an event as the SDK's bits.
enum StorageEventType {
    /// There are recordings of the event.
    static let video: Int64 = 1 << 15

    /// By the last part of the topic, in lower case.
    private static let bits: [String: Int64] = [
        "motion": 0, "human": 1, "sound": 2, "livecall": 6, "pir": 16, "doorbell": 17, "pet": 20, "car": 21, "cry": 23,
        "fire": 24, "smoke": 25,
    ]

    /// The body's `alarmType`, or else the topic's bit; 0 for an event of another kind. Never bit 15.
    static func mask(topic: String, body: JSONValue) -> Int64 {
        let name = (topic.split(separator: "/").last ?? "").lowercased()
        let own = body["alarmType"]?.integerValue.flatMap { UInt32(exactly: $0) }.map(Int64.init)
        return (own ?? bits[name].map { 1 << $0 } ?? 0) & ~video
    }

    /// Whether the bits satisfy each mask: one of a mask's bits is enough.
    static func satisfies(_ bits: Int64, _ masks: [Int64]) -> Bool {
        masks.allSatisfy { $0 & bits != 0 }
    }
}
