import IoTCore
import Testing

@testable import MediaChannel

@Suite struct CameraSourceEventsTests {
    @Test("One event a change: there, lost, there again; attempts in between are none")
    func changes() {
        var events = CameraSourceEvents()
        let lost = CameraSnapshot.SourceState.failed(IoTError(.sourceUnreachable, "no route to rtsp://192.0.2.7"))
        var told: [CameraSourceEvents.Event?] = []
        for state: CameraSnapshot.SourceState in [
            .connecting, .ready, .ready, .connecting, lost, lost, .connecting, lost, .ready, .connecting, .ready,
        ] {
            told.append(events.event(for: state))
        }
        #expect(
            told.compactMap { $0 } == [
                .init(topic: "EVENT_CAM/SourceReady", body: ["reason": "started"]),
                .init(
                    topic: "EVENT_CAM/SourceLost",
                    body: ["code": 25010, "reason": "the camera's source cannot be reached"]),
                .init(topic: "EVENT_CAM/SourceReady", body: ["reason": "recovered"]),
            ])
        #expect(told[1] != nil && told[4] != nil && told[8] != nil)
    }

    @Test("A source that was never there is lost once")
    func neverThere() {
        var events = CameraSourceEvents()
        let lost = CameraSnapshot.SourceState.failed(IoTError(.sourceUnreachable))
        #expect(events.event(for: .connecting) == nil)
        #expect(events.event(for: lost)?.topic == "EVENT_CAM/SourceLost")
        #expect(events.event(for: lost) == nil)
    }
}
