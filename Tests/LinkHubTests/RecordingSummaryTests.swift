import IoTCore
import IoTLink
import Testing
import ThingModel

@testable import LinkHub

@Suite("What devices report of their recordings")
struct RecordingSummaryTests {
    private let summary = RecordingSummary(t: 7_000, isRecorded: true, days: 14, precision: 2, times: [1..<5, 9..<20])

    private func report(
        _ hub: inout CoreFixture, _ camera: LinkAddress, ownership: Int64? = nil, summary: RecordingSummary? = nil
    ) throws -> ErrorCode? {
        let report = RecordingReport(
            ownership: ownership ?? hub.core.state.devices[hub.front]?.owners ?? -1, summary: summary ?? self.summary)
        return try hub.request(camera, "recording.report", report.json)?.code
    }

    private func read(_ hub: inout CoreFixture, _ user: LinkAddress) throws -> (RecordingSummary?, ErrorCode) {
        let answer = try #require(try hub.request(user, "recording.summary", ["device": "front"]))
        return (try? RecordingMethod.summary.result(answer.result), answer.code)
    }

    @Test("A summary is for those who may play recordings, and the newest one counts")
    func rights() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        #expect(try read(&hub, hub.owner).1 == .recorderUnavailable)
        #expect(try report(&hub, hub.camera) == .success)
        #expect(try read(&hub, hub.owner).0 == summary)
        #expect(try read(&hub, hub.guest).1 == .relationInvalid)
        var newer = summary
        newer.times = []
        #expect(try report(&hub, hub.camera, summary: newer) == .success)
        #expect(try read(&hub, hub.owner).0 == newer)
        #expect(try hub.request(hub.owner, "recording.report", [:])?.code == .invalidRequest, "only devices report")
    }

    @Test("A new owner does not see what was recorded for the one before, and a report for that one is refused")
    func newOwner() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        #expect(try report(&hub, hub.camera) == .success)
        let before = try #require(hub.core.state.devices[hub.front]?.owners)
        #expect(try report(&hub, hub.camera, ownership: before + 1) == .relationInvalid)
        #expect(try hub.request(hub.owner, "device.unbind", ["device": "front"])?.code == .success)
        hub.core.state.devices[hub.front]?.owners += 1
        #expect(throws: IoTError.self) { try hub.core.summary(of: hub.front) }
        #expect(try report(&hub, hub.camera, ownership: before) == .relationInvalid)
        #expect(try report(&hub, hub.camera) == .success)
    }

    @Test("Malformed summaries are refused")
    func malformed() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        var json = RecordingReport(ownership: 1, summary: summary).json
        let lists: [JSONValue] = [
            [1], [5, 5], [5, 1], [1, 5, 5, 9], [1, 5, 3, 9], [-1, 5], ["1", "5"], 5,
            .array(Array(repeating: 1, count: 801)),
        ]
        for list in lists {
            json["times"] = list
            #expect(try hub.request(hub.camera, "recording.report", json)?.code == .invalidRequest, "\(list)")
        }
        json["times"] = [1, 2]
        for (name, value) in [("days", -1), ("days", 40_000), ("precision", -1), ("t", -1)] as [(String, JSONValue)] {
            var wrong = json
            wrong[name] = value
            #expect(try hub.request(hub.camera, "recording.report", wrong)?.code == .invalidRequest, "\(name)")
        }
    }
}
