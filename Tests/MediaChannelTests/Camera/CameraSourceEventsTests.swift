import IoTCore
import Testing

@testable import MediaChannel

@Suite struct CameraSourceEventsTests {
    @Test("One event per change: ready, lost, ready again; attempts in between cause none")
    func changes() {
        var events = CameraSourceEvents()
        let lost = CameraSnapshot.SourceState.failed(IoTError(.sourceUnreachable, "no route to rtsp://192.0.2.7"))
        var reported: [CameraEvent?] = []
        for state: CameraSnapshot.SourceState in [
            .connecting, .ready, .ready, .connecting, lost, lost, .connecting, lost, .ready, .connecting, .ready,
        ] {
            reported.append(events.event(for: state))
        }
        #expect(
            reported.compactMap { $0 } == [
                .init(topic: "EVENT_CAM/SourceReady", body: ["reason": "started"]),
                .init(
                    topic: "EVENT_CAM/SourceLost",
                    body: ["code": 25010, "reason": "the camera's source cannot be reached"]),
                .init(topic: "EVENT_CAM/SourceReady", body: ["reason": "recovered"]),
            ])
        #expect(reported[1] != nil && reported[4] != nil && reported[8] != nil)
    }

    @Test("A source that was never ready is lost once")
    func neverThere() {
        var events = CameraSourceEvents()
        let lost = CameraSnapshot.SourceState.failed(IoTError(.sourceUnreachable))
        #expect(events.event(for: .connecting) == nil)
        #expect(events.event(for: lost)?.topic == "EVENT_CAM/SourceLost")
        #expect(events.event(for: lost) == nil)
    }
}
