public import IoTCore
import NIOCore

/// Something that was noticed at a camera. Times are ms since 1970.
public struct Detection: Sendable, Hashable {
    public static let topic = "EVENT_CAM/Detection"

    public var type: DetectionType
    public var start: Int64
    public var end: Int64
    /// Whether the camera is recorded meanwhile.
    public var isRecorded: Bool
    /// Whether it is over: then `end` is when it really ended, and an event with the same start came before.
    var isOver = false

    /// The bits of the IoT video SDK.
    public var mask: UInt32 { type.mask | (isRecorded ? DetectionType.hasVideo : 0) }

    var body: JSONValue {
        var body: [String: JSONValue] = [
            "type": .string(type.rawValue), "alarmType": .integer(Int64(mask)), "start": .integer(start),
            "end": .integer(end),
        ]
        if isOver { body["over"] = true }
        return .object(body)
    }
}

extension Camera {
    /// How long an event may last at most.
    public static let longestDetection = Duration.seconds(3_600)

    /// A program beside the camera has noticed something: the camera's users get the event, and a camera that records
    /// events is recorded from shortly before now until shortly after the event.
    ///
    /// - Parameter duration: how long it lasts from now on, at most an hour; another event may prolong the recording.
    /// - Throws: 21005 if the events of the camera cannot be sent now.
    public func detected(_ type: DetectionType, for duration: Duration) async throws(IoTError) -> Detection {
        let isRecorded = await record(type, for: duration)
        let now = WallClock.milliseconds()
        let detection = Detection(
            type: type, start: now, end: now + TimeAmount(duration).nanoseconds / 1_000_000, isRecorded: isRecorded)
        try post(Detection.topic, detection.body)
        return detection
    }

    /// Records an event of a camera that is on.
    ///
    /// - Returns: whether it is recorded.
    func record(_ type: DetectionType, for duration: Duration) async -> Bool {
        let isRecorded = try? await stream.eventLoop.submit { [stream, recorder] in
            stream.value.isOn && recorder?.begin(type, for: duration) == true
        }.get()
        return isRecorded == true
    }
}
