import GatewayAPI
import IoTCore
import Testing
import ThingModel

@testable import Gateway

@Suite("Events of the storage service")
struct StorageEventTests {
    private func event(_ id: Int, at second: Int64) -> StorageEvents.Event {
        StorageEvents.Event(
            alarmId: String(id), firstAlarmType: 1, alarmType: 1, startTime: second, endTime: second)
    }

    @Test("One bit of a mask is enough, and each mask counts; the guide's examples")
    func masks() {
        #expect(StorageEventType.satisfies(0b01, [3]) && StorageEventType.satisfies(0b10, [3]))
        #expect(!StorageEventType.satisfies(0b100, [3]))
        #expect(StorageEventType.satisfies(0b11, [1, 2]) && !StorageEventType.satisfies(0b01, [1, 2]))
        #expect(StorageEventType.satisfies(0, []) && !StorageEventType.satisfies(0, [0x8000]))
    }

    @Test("An event's type is its own, or that of its topic; the bit for video is not its own")
    func types() {
        func mask(_ topic: String, _ body: JSONValue = [:]) -> Int64 {
            StorageEventType.mask(topic: topic, body: body)
        }
        #expect(mask("EVENT_CAM/Motion") == 1 && mask("EVENT_CAM/LiveCall") == 64 && mask("EVENT_X/Pir") == 0x1_0000)
        #expect(mask("EVENT_CAM/SourceLost") == 0)
        #expect(mask("EVENT_CAM/Motion", ["alarmType": 0x8006]) == 6)
        #expect(mask("EVENT_CAM/Motion", ["alarmType": -1]) == 1, "not 32 bits")
    }

    @Test("An event during which something was recorded has bit 15 and a picture; its end is the body's, if credible")
    func videos() {
        let times = [RecordedTime(start: 10_000, end: 20_000, reason: .continuous)]
        func found(_ t: Int64, end: Int64? = nil) -> StorageEvents.Event {
            CallerStorage.event(
                ThingEvent(
                    id: 5, device: .random(), topic: "EVENT_CAM/Motion",
                    body: end.map { ["end": .integer($0)] } ?? [:], t: t), hasVideo: times)
        }
        #expect(found(12_500).alarmType == 0x8001 && found(12_500).imgUrlSuffix == "12500")
        #expect(found(12_500).startTime == 12 && found(12_500).endTime == 13 && found(12_500).alarmId == "5")
        for other in [found(9_999), found(20_000), found(25_000)] {
            #expect(other.alarmType == 1 && other.imgUrlSuffix.isEmpty)
        }
        #expect(found(5_000, end: 11_000).alarmType == 0x8001 && found(5_000, end: 11_000).endTime == 11)
        #expect(found(5_000, end: 90_000_000).alarmType == 1, "more than a day")
    }

    @Test("Both messages about one motion are one event, with the real end")
    func joined() {
        let device = DeviceID.random()
        func motion(_ id: Int64, _ t: Int64, start: Int64, end: Int64, over: Bool = false) -> ThingEvent {
            var body: [String: JSONValue] = ["type": "motion", "start": .integer(start), "end": .integer(end)]
            if over { body["over"] = true }
            return ThingEvent(id: id, device: device, topic: "EVENT_CAM/Detection", body: .object(body), t: t)
        }
        let joined = CallerStorage.joined([
            motion(4, 40_000, start: 31_000, end: 36_000), motion(3, 30_000, start: 10_000, end: 24_000, over: true),
            motion(2, 10_000, start: 10_000, end: 15_000), motion(1, 9_000, start: 2_000, end: 4_000, over: true),
        ])
        #expect(joined.map(\.id) == [4, 2])
        #expect(joined.map { $0.body["end"]?.integerValue } == [36_000, 24_000])
    }

    @Test("Pages by the last event's start lose no event and repeat none, also where many happened in one second")
    func pages() {
        // Some seconds have three events.
        let all = (0..<40).map { event($0, at: 1_000 + Int64($0 / 3)) }
        for size in 3...50 {
            var (seen, end) = ([String](), Int64.max)
            while true {
                let page = StorageEventPage.cut(all.filter { $0.startTime < end }.shuffled(), size: size)
                #expect(page.list.count <= size && page.list.count > 0)
                seen += page.list.map(\.alarmId)
                guard !page.isEnd, let last = page.list.last else { break }
                end = last.startTime
            }
            #expect(seen == (0..<40).reversed().map(String.init), "pages of \(size)")
        }
        #expect(StorageEventPage.cut([], size: 5).isEnd)
    }
}
