import GatewayAPI
import IoTCore
import Testing

@Suite struct ServerSentEventTests {
    @Test("Every channel update is encoded as an event and decoded again")
    func channelUpdates() throws {
        var report = StatisticsReport(timestamp: 5)
        report.video = TrackStatistics()
        report.video?.framesDroppedByReason = ["late": 2]
        report.firstFrameTime = 0.034
        let state = ChannelState(connection: .connected, player: .playing)
        let channel = ChannelDescription(
            id: "c", device: "d", deviceName: "n", source: .main, kind: .monitor, state: state, tracks: [],
            statistics: report)
        let updates: [ChannelUpdate] = [
            .state(state), .statistics(report),
            .discontinuity(ChannelDiscontinuity(reason: .size, pts: -3, width: 640, height: 360)),
            .stage(StageDescription(stage: 3, name: "connected", time: 0.2, facts: ["route": "host"])),
            .warning(APIError(IoTError(.slowReader))), .end(channel),
        ]
        var parser = ServerSentEventParser()
        let events = parser.receive(try updates.map { try $0.serverSentEvent.text }.joined().utf8)
        #expect(events.map(\.name) == ["state", "statistics", "discontinuity", "stage", "error", "end"])
        #expect(try events.map { try ChannelUpdate($0) } == updates)
    }

    @Test("Every device event is encoded and decoded again")
    func deviceEvents() throws {
        let all: [DeviceEvent] = [
            .update(PropertyUpdate(device: "d", path: "", value: ["a": "line\nbreak"], version: 1)),
            .presence(DevicePresence(device: "d", online: false)), .failed(APIError(IoTError(.linkUnavailable))),
        ]
        for event in all { #expect(try DeviceEvent(try event.serverSentEvent) == event) }
    }

    @Test("An unknown event from a newer daemon is skipped; malformed data are an error")
    func strangeEvents() throws {
        #expect(try ChannelUpdate(ServerSentEvent(name: "weather", data: "{}")) == nil)
        #expect(try DeviceEvent(ServerSentEvent(name: "message", data: "")) == nil)
        #expect(throws: IoTError.self) { try ChannelUpdate(ServerSentEvent(name: "state", data: "{")) }
    }
}
