import GatewayAPI
import IoTCore
import Testing

@Suite struct CameraChangeTests {
    @Test("A user name stays absent, null or set when it is encoded and decoded")
    func username() throws {
        for (change, text) in [
            (CameraChange(CameraSettings(viewers: 2)), #"{"viewers":2}"#),
            (CameraChange(removed: ["username"]), #"{"username":null}"#),
            (CameraChange(removed: ["lowUrl", "midUrl"]), #"{"lowUrl":null,"midUrl":null}"#),
            (CameraChange(CameraSettings(username: "u", password: "p")), #"{"password":"p","username":"u"}"#),
        ] {
            #expect(String(decoding: try APICoding.encode(change), as: UTF8.self) == text)
            #expect(try APICoding.decode(CameraChange.self, from: text.utf8) == change)
        }
    }

    @Test("A tested track is encoded as one object with the track's members")
    func testedTrack() throws {
        let track = TestedTrack(
            track: TrackDescription(kind: .video, codec: "h264", width: 16, height: 16), profile: "High",
            bFrames: false, browsers: .init(plays: .yes, reason: "r"))
        let text = String(decoding: try APICoding.encode(track), as: UTF8.self)
        #expect(
            text == #"{"bFrames":false,"browsers":{"plays":"yes","reason":"r"},"codec":"h264","height":16,"#
                + #""kind":"video","profile":"High","width":16}"#)
        #expect(try APICoding.decode(TestedTrack.self, from: text.utf8) == track)
    }
}
