import IoTCore
import ThingModel

/// The texts that a camera answers when a user passes them through:
///
/// - `get_device_st`, `get_device_st&type=live`: whether one more may watch, as
///   `[{"status":S,"appConnectNum":N}]` with N viewers now and S 0 for yes, 1 while the camera is off or has no
///   picture, 405 when all places are taken;
/// - `get_device_st&type=voice`: S 406, since a camera of this kind has no loudspeaker; another type: S 404.
///
/// Any other text is `userCommandType` (20141), another parameter `userCommandParameter` (20143).
struct CameraMessages: Sendable {
    static let deviceState = "get_device_st"

    private let snapshot: @Sendable () async -> CameraSnapshot

    init(snapshot: @escaping @Sendable () async -> CameraSnapshot) {
        self.snapshot = snapshot
    }

    func answer(_ message: DeviceMessage, _ responder: DeviceMessageResponder) async throws(IoTError) {
        guard let text = message.text else { throw Self.unknown("the message is no text") }
        let words = text.split(separator: "&", omittingEmptySubsequences: false)
        guard words.first.map(String.init) == Self.deviceState else {
            throw Self.unknown("this camera knows no '\(text.prefix(64))'")
        }
        var type = "live"
        for word in words.dropFirst() {
            guard word.hasPrefix("type=") else {
                throw IoTError(
                    .userCommandParameter, "\(Self.deviceState) takes no '\(word.prefix(64))'",
                    remedy: "give it type=live, type=voice or nothing")
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
        IoTError(.userCommandType, reason, remedy: "send `\(deviceState)`, which is all that this camera answers")
    }

    private static func status(_ type: String, _ camera: CameraSnapshot) -> Int64 {
        switch type {
        case "live": break
        case "voice": return 406
        default: return 404
        }
        guard camera.isOn, case .ready = camera.source else { return 1 }
        return camera.viewers < camera.maximumViewers ? 0 : 405
    }
}
