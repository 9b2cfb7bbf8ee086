import IoTCore
import RecordingStore
import Testing

@testable import MediaChannel

@Suite("A camera's stored timeline")
struct StoredReplayTests {
    private static let start = RecordedDisk.wall

    private func detection(
        _ type: String, at seconds: Int64, until end: Int64, over: Bool = false, begun: Int64? = nil
    ) -> TimelineEntry {
        var body: [String: JSONValue] = [
            "type": .string(type), "start": .integer(Self.start / 1_000 + (begun ?? seconds) * 1_000),
            "end": .integer(Self.start / 1_000 + end * 1_000),
        ]
        if over { body["over"] = true }
        return TimelineEntry(
            time: Self.start + seconds * 1_000_000, kind: .moment, name: Detection.topic, value: .object(body))
    }

    @Test("A moment has the values and the detections that last then")
    func state() throws {
        let disk = try RecordedDisk()
        let on = TimelineEntry(time: Self.start, kind: .state, name: "ProReadonly.cameraOn", value: 1)
        try disk.index.commit([
            .happened(
                disk.camera,
                [
                    on, detection("motion", at: 10, until: 40), detection("human", at: 12, until: 14),
                    detection("motion", at: 20, until: 20, over: true, begun: 10),
                    detection("sound", at: 21, until: 60),
                    TimelineEntry(
                        time: Self.start + 22_000_000, kind: .moment, name: "Action.takePhoto", value: 1),
                ])
        ])
        let source = disk.stored()
        func names(_ seconds: Int64) throws -> [String] {
            try source.replay(.state(at: Self.start + seconds * 1_000_000)).items.map {
                $0.value["type"]?.stringValue ?? $0.name
            }
        }
        #expect(try names(5) == ["ProReadonly.cameraOn"])
        #expect(try names(13) == ["ProReadonly.cameraOn", "motion", "human"])
        #expect(try names(15) == ["ProReadonly.cameraOn", "motion"])
        #expect(try names(22) == ["ProReadonly.cameraOn", "sound"])
        #expect(try names(61) == ["ProReadonly.cameraOn"])
        let page = try source.replay(
            .following(TimelinePlace(after: Self.start + 20_000_000), until: Self.start + 30_000_000))
        #expect(page.items.map(\.kind) == [.event, .action])
        #expect(page.known == min(page.known, Self.start + 30_000_000))
    }

    @Test("The messages of many items each fit the control channel, and give the same items")
    func messages() throws {
        let value = JSONValue.string(String(repeating: "x", count: 100))
        let items = (0..<100).flatMap { number in
            let time = Int64(number) * 1_000
            return [
                ReplayItem(time: time, kind: .event, name: "EVENT_CAM/Test", value: value),
                ReplayItem(time: time, kind: .property, name: "ProReadonly.x", value: value),
            ]
        }
        let messages = PlaybackMessages.messages(.replay(.overwrite, items))
        #expect(messages.count > 3 && messages.allSatisfy { $0.jsonText.utf8.count < 8_000 })
        var read: [ReplayItem] = []
        for (position, message) in messages.enumerated() {
            guard case .replay(let mode, let part) = PlaybackMessages.event(message) else {
                Issue.record("\(message)")
                continue
            }
            #expect(mode == (position == 0 ? .overwrite : .append))
            read += part
        }
        #expect(read == items)
        #expect(
            PlaybackMessages.messages(.replay(.overwrite, [])).map(PlaybackMessages.event) == [.replay(.overwrite, [])])
        #expect(PlaybackMessages.event(["event": "replay", "mode": "other", "items": []]) == nil)
        #expect(
            PlaybackMessages.event(["event": "replay", "mode": "append", "items": [["time": -1], 5, ["path": "x"]]])
                == .replay(.append, []))
    }
}
