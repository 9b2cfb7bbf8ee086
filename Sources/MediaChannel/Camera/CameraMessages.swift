import IoTCore
import ThingModel

/// The camera's answers to text messages from users:
///
/// - `get_device_st`, `get_device_st&type=live`: whether another viewer may watch, as
///   `[{"status":S,"appConnectNum":N}]`, where N is the current number of viewers. S is 0 for yes, 1 if the camera is
///   off or has no picture, 405 if all places are taken.
/// - `get_device_st&type=voice`: whether somebody may talk. S is 0 for yes, 1 if the camera is off, 405 if somebody else
///   talks, 406 if the camera has no loudspeaker. Any other type: S is 404.
///
/// Another text is refused with `userCommandType` (20141), another parameter with `userCommandParameter` (20143).
struct CameraMessages: Sendable {
    static let deviceState = "get_device_st"

    private let snapshot: @Sendable () async -> CameraSnapshot

    init(snapshot: @escaping @Sendable () async -> CameraSnapshot) {
        self.snapshot = snapshot
    }

    func answer(_ message: DeviceMessage, _ responder: DeviceMessageResponder) async throws(IoTError) {
        guard let text = message.text else { throw Self.unknown("the message is not text") }
        let words = text.split(separator: "&", omittingEmptySubsequences: false)
        guard words.first.map(String.init) == Self.deviceState else {
            throw Self.unknown("this camera does not know '\(text.prefix(64))'")
        }
        var type = "live"
        for word in words.dropFirst() {
            guard word.hasPrefix("type=") else {
                throw IoTError(
                    .userCommandParameter, "\(Self.deviceState) does not accept '\(word.prefix(64))'",
                    remedy: "use type=live, type=voice or no parameter")
            }
            type = String(word.dropFirst("type=".count))
        }
        let camera = await snapshot()
        let line: JSONValue = [
            "status": .integer(Self.status(type, camera)), "appConnectNum": .integer(Int64(camera.viewers)),
        ]
        try responder.send(text: JSONValue.array([line]).jsonText)
    }

    private static func unknown(_ reason: String) -> IoTError {
        IoTError(.userCommandType, reason, remedy: "send `\(deviceState)`, the only message that this camera answers")
    }

    private static func status(_ type: String, _ camera: CameraSnapshot) -> Int64 {
        switch type {
        case "live": break
        case "voice":
            guard camera.hasLoudspeaker else { return 406 }
            guard camera.isOn else { return 1 }
            return camera.talkers == 0 ? 0 : 405
        default: return 404
        }
        guard camera.isOn, case .ready = camera.source else { return 1 }
        return camera.viewers < camera.maximumViewers ? 0 : 405
    }
}
