import IoTCore
import Testing

@testable import RTSP

@Suite("The path of a stream")
struct StreamPathTests {
    @Test(
        "Names, qualities and tracks are parsed from URLs",
        arguments: [
            ("rtsp://192.0.2.1/front", StreamPath(name: "front")),
            ("rtsp://192.0.2.1:8554/front/", StreamPath(name: "front")),
            ("rtsps://key:secret@box.local/front?x=1", StreamPath(name: "front")),
            ("rtsp://[2001:db8::1]:8554/front/low", StreamPath(name: "front", definition: .low)),
            ("rtsp://192.0.2.1/front/mid", StreamPath(name: "front", definition: .mid)),
            ("rtsp://192.0.2.1/front/low/trackID=1", StreamPath(name: "front", definition: .low, track: 1)),
            ("rtsp://192.0.2.1/front/trackID=0", StreamPath(name: "front", track: 0)),
            ("rtsp://192.0.2.1/low", StreamPath(name: "low")),
            ("rtsp://192.0.2.1/back%20door", StreamPath(name: "back door")),
            ("rtsp://192.0.2.1/trackID=0", nil),
            ("rtsp://192.0.2.1/front/trackID=300", nil),
            ("rtsp://192.0.2.1/front/high", nil),
            ("rtsp://192.0.2.1/%", nil), ("rtsp://192.0.2.1/%zz", nil), ("rtsp://192.0.2.1/%ff", nil),
            ("rtsp://192.0.2.1/a%0d%0ab", nil),
            ("rtsp://192.0.2.1/", nil), ("*", nil), ("/front", nil), ("http://192.0.2.1/front", nil),
        ] as [(String, StreamPath?)])
    func read(uri: String, path: StreamPath?) {
        #expect(StreamPath(uri) == path)
    }

    @Test("A long name is refused")
    func longName() {
        #expect(StreamPath("rtsp://h/" + String(repeating: "a", count: 256)) != nil)
        #expect(StreamPath("rtsp://h/" + String(repeating: "a", count: 257)) == nil)
    }
}
