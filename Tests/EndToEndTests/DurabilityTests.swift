import Foundation
import Testing

/// Nothing acknowledged is lost.
@Suite(.serialized, .timeLimit(.minutes(3))) struct DurabilityTests {
    @Test("kill -9 at random moments during 1,000 writes loses no acknowledged one")
    func killed() async throws {
        let folder = try TemporaryFolder()
        let cameras = ["front": Product.sample("street-h265-aac.mp4")]
        var generator = SystemRandomNumberGenerator()
        var acknowledged: [Int: Int] = [:]
        // Cut off by a kill: applied or not.
        var unanswered: [Int: Set<Int>] = [:]
        var next = 0
        var round = 0
        while next < 1_000 {
            let daemon = try await RunningDaemon(cameras: cameras, folder: folder)
            for property in 0..<8 where round == 0 {
                let added = try await daemon.iotctl("user-property", "add", "front", "p\(property)", "-1")
                try #require(added.status == 0, "\(added.errors)")
            }
            try await check(daemon, acknowledged, unanswered, round: round)
            let writes = Int.random(in: 100...220, using: &generator)
            let first = next
            next += writes
            round += 1
            try await withThrowingTaskGroup(of: [(Int, Int, Bool)].self) { group in
                for property in 0..<8 {
                    group.addTask { [api = daemon.api] in
                        var outcomes: [(Int, Int, Bool)] = []
                        for value in stride(from: first + property, to: first + writes, by: 8) {
                            let done =
                                try await api.write("front", "ProUser.p\(property).val", "\(value)", key: "w\(value)")
                            outcomes.append((property, value, done))
                            if !done { break }
                        }
                        return outcomes
                    }
                }
                group.addTask {
                    try await ContinuousClock().sleep(for: .milliseconds(Int.random(in: 50...1_500)))
                    daemon.kill()
                    return []
                }
                for try await outcomes in group {
                    for (property, value, isDone) in outcomes {
                        if isDone {
                            acknowledged[property] = value
                            unanswered[property] = []
                        } else {
                            unanswered[property, default: []].insert(value)
                        }
                    }
                }
            }
            _ = await daemon.ended()
        }
        let daemon = try await RunningDaemon(cameras: cameras, folder: folder)
        try await check(daemon, acknowledged, unanswered, round: round)
        #expect(!acknowledged.isEmpty)
        await daemon.stop()
    }

    /// The value is the last acknowledged one, or one behind it whose answer a kill cut off.
    private func check(
        _ daemon: RunningDaemon, _ acknowledged: [Int: Int], _ unanswered: [Int: Set<Int>], round: Int
    ) async throws {
        for (property, value) in acknowledged {
            let stored = try await daemon.api.read("front", "ProUser.p\(property).val") as? Int
            #expect(
                stored == value || stored.map { unanswered[property, default: []].contains($0) } == true,
                "round \(round): p\(property) is \(stored.map(String.init) ?? "gone"), acknowledged was \(value)")
        }
    }

    @Test("The disk has the write before its answer leaves")
    func synchronised() async throws {
        let folder = try TemporaryFolder()
        let trace = folder.path("trace")
        let daemon = try await RunningDaemon(
            cameras: ["front": Product.sample("street-h265-aac.mp4")], folder: folder,
            wrapper: ["strace", "-f", "-o", trace, "-e", "trace=fdatasync,write,writev,sendto,sendmsg", "-s", "4096"])
        let written = try await daemon.api.write("front", "ProUser._buildIn.val.nickName", #""durable-42""#, key: "k42")
        #expect(written)
        await daemon.stop()
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").map(String.init)
        // The request on its way to the hub, the disk, the hub's answer, in this order.
        let request = try #require(lines.firstIndex { $0.contains("property.write") && $0.contains("durable-42") })
        let synchronised = try #require(
            lines[request...].firstIndex { $0.contains("fdatasync") && !$0.contains("= -1") })
        let answer = try #require(
            lines[request...].firstIndex { $0.contains(#"\"k42\""#) && $0.contains(#"\"code\":0"#) },
            "no answer in the trace")
        #expect(synchronised < answer, "the answer left before the disk had the write")
    }

    @Test("A repeated request id after a restart does not apply twice")
    func repeated() async throws {
        let folder = try TemporaryFolder()
        let cameras = ["front": Product.sample("street-h265-aac.mp4")]
        var daemon = try await RunningDaemon(cameras: cameras, folder: folder)
        let path = "/v1/devices/front/properties?path=ProUser._buildIn.val.nickName"
        let key = ["Idempotency-Key: same-key"]
        let first = try await daemon.api.request("PUT", path, body: #""one""#, headers: key)
        #expect(first.status == 200)
        _ = try await daemon.api.request("PUT", path, body: #""two""#)
        daemon.kill()
        _ = await daemon.ended()
        daemon = try await RunningDaemon(cameras: cameras, folder: folder)
        let again = try await daemon.api.request("PUT", path, body: #""one""#, headers: key)
        #expect(again.status == 200)
        #expect(again.object["version"] as? Int == first.object["version"] as? Int)
        #expect(try await daemon.api.read("front", "ProUser._buildIn.val.nickName") as? String == "two")
        await daemon.stop()
    }

    @Test("Killing the broker ends in online again, and nothing is lost")
    func brokerKilled() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        #expect(try await daemon.api.write("front", "ProUser._buildIn.val.nickName", #""kept""#, key: "b1"))
        func status() async throws -> [String: Any] {
            try await daemon.api.request("GET", "/v1/status").object
        }
        let broker = try #require((try await status()["broker"] as? [String: Any])?["process"] as? Int)
        kill(Int32(broker), SIGKILL)
        try await eventually("another broker, and online", within: .seconds(30)) {
            let now = try await status()
            let process = (now["broker"] as? [String: Any])?["process"] as? Int
            let link = (now["link"] as? [String: Any])?["name"] as? String
            return process != nil && process != broker && link == "online"
        }
        try await eventually("the camera's presence") {
            let devices = try await daemon.api.request("GET", "/v1/devices").object["devices"] as? [[String: Any]]
            return devices?.first?["online"] as? Bool == true
        }
        #expect(try await daemon.api.read("front", "ProUser._buildIn.val.nickName") as? String == "kept")
        #expect(try await daemon.iotctl("monitor", "front", "--frames", "5").status == 0)
        await daemon.stop()
    }
}
