import IoTCore
import IoTLink
import Testing

@testable import MediaChannel
@testable import ThingModel

@Suite struct CameraMessagesTests {
    /// The camera's answer to a text.
    private func answer(
        _ text: String, viewers: Int = 2, isOn: Bool = true, talkers: Int? = nil,
        source: CameraSnapshot.SourceState = .ready
    ) async throws -> JSONValue {
        let camera = CameraSnapshot(
            name: "front", device: .random(), url: "", source: source, isOn: isOn, since: 0, viewers: viewers,
            maximumViewers: 8, hasLoudspeaker: talkers != nil, talkers: talkers ?? 0, media: CameraMeasurement(),
            shown: CameraSettings(), droppedPictures: 0)
        let responder = DeviceMessageResponder(responses: .one, link: LinkResponder { _ in })
        let message = DeviceMessage(from: nil, data: Array(text.utf8), responses: .one)
        try await CameraMessages { camera }.answer(message, responder)
        return try JSONValue(parsing: try #require(responder.single).bytes)
    }

    @Test("get_device_st reports whether another viewer may watch, and the number of viewers")
    func deviceState() async throws {
        #expect(try await answer("get_device_st") == [["status": 0, "appConnectNum": 2]])
        #expect(try await answer("get_device_st&type=live", viewers: 8) == [["status": 405, "appConnectNum": 8]])
        #expect(try await answer("get_device_st", isOn: false) == [["status": 1, "appConnectNum": 2]])
        #expect(try await answer("get_device_st", source: .connecting) == [["status": 1, "appConnectNum": 2]])
        #expect(try await answer("get_device_st&type=voice") == [["status": 406, "appConnectNum": 2]])
        for (talkers, isOn, status) in [(0, true, 0), (1, true, 405), (0, false, 1)] as [(Int, Bool, JSONValue)] {
            let voice = try await answer("get_device_st&type=voice", isOn: isOn, talkers: talkers)
            #expect(voice == [["status": status, "appConnectNum": 2]])
        }
        #expect(try await answer("get_device_st&type=smell") == [["status": 404, "appConnectNum": 2]])
    }

    @Test("Another message is refused with 20141, another parameter with 20143")
    func refused() async {
        for (text, code) in [
            ("reboot", ErrorCode.userCommandType), ("", .userCommandType), ("get_device_state", .userCommandType),
            ("get_device_st&channel=1", .userCommandParameter),
        ] {
            let error = await #expect(throws: IoTError.self) { _ = try await answer(text) }
            #expect(error?.code == code, "\(text)")
            #expect(error?.remedy.contains(code == .userCommandType ? "get_device_st" : "type=") == true)
        }
    }
}
