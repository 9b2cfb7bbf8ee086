import Foundation
import TestSupport
import Testing

/// No acknowledged write is lost.
@Suite(.serialized, .timeLimit(.minutes(3))) struct DurabilityTests {
    /// `CHAOS_SEED` (42) repeats the same kills.
    @Test("kill -9 during the writes of eight writers loses none of 1,000 acknowledged writes")
    func killed() async throws {
        let seed = UInt64(ProcessInfo.processInfo.environment["CHAOS_SEED"] ?? "") ?? 42
        print("durability: CHAOS_SEED=\(seed)")
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let cameras = ["front": Product.sample("street-h265-aac.mp4")]
        var writers = (0..<8).map { PropertyWriter(property: "p\($0)") }
        var rounds = 0
        var roundsWithCuts = 0
        while sum(writers, \.acknowledged) < 1_000 || rounds < 8 {
            let daemon = try await RunningDaemon(cameras: cameras, folder: folder)
            // A device that was never online does not have properties yet.
            try await eventually("the camera") {
                try await daemon.api.read("front", "ProReadonly._online.stVal") as? Int == 1
            }
            for index in writers.indices {
                if rounds == 0 {
                    await writers[index].prepare(daemon.socketClient)
                } else {
                    await writers[index].check(daemon.socketClient)
                }
            }
            let cutOff = sum(writers, \.cutOff)
            writers = await write(
                writers, daemon, killAfter: Int.random(in: 1...220, using: &generator),
                delay: .microseconds(Int.random(in: 0...8_000, using: &generator)))
            rounds += 1
            if sum(writers, \.cutOff) > cutOff { roundsWithCuts += 1 }
            try #require(writers.flatMap(\.problems).isEmpty, "seed \(seed), round \(rounds)")
        }
        let daemon = try await RunningDaemon(cameras: cameras, folder: folder)
        for index in writers.indices { await writers[index].check(daemon.socketClient) }
        await daemon.stop()
        #expect(writers.flatMap(\.problems).isEmpty, "seed \(seed), after \(rounds) rounds")
        print(
            """
            durability: \(sum(writers, \.sent)) sent, \(sum(writers, \.acknowledged)) acknowledged, \
            \(sum(writers, \.cutOff)) cut off in \(roundsWithCuts) of \(rounds) rounds, \
            \(sum(writers, \.carriedOut)) of them carried out
            """)
        #expect(roundsWithCuts * 4 >= rounds * 3, "seed \(seed): most kills hit an idle daemon")
    }

    /// Returns when the daemon is dead; until then the writers continue.
    private func write(
        _ writers: [PropertyWriter], _ daemon: RunningDaemon, killAfter limit: Int, delay: Duration
    ) async -> [PropertyWriter] {
        let (acknowledgements, acknowledged) = AsyncStream.makeStream(of: Void.self)
        async let killed: Void = {
            var count = 0
            for await _ in acknowledgements {
                count += 1
                if count == limit { break }
            }
            // The delay varies the moment of the kill: after an acknowledgement the daemon is always at the same point.
            try? await ContinuousClock().sleep(for: delay)
            daemon.kill()
        }()
        let after = await withTaskGroup(of: (Int, PropertyWriter).self) { group in
            for (index, writer) in writers.enumerated() {
                group.addTask {
                    var writer = writer
                    await writer.run(daemon.socketClient) { acknowledged.yield() }
                    return (index, writer)
                }
            }
            var after = writers
            for await (index, writer) in group { after[index] = writer }
            return after
        }
        acknowledged.finish()
        await killed
        _ = await daemon.ended()
        return after
    }

    private func sum(_ writers: [PropertyWriter], _ figure: (PropertyWriter) -> Int) -> Int {
        writers.reduce(0) { $0 + figure($1) }
    }

    @Test("A write is on the disk before its answer is sent")
    func synchronised() async throws {
        let folder = try TemporaryFolder()
        let trace = folder.path("trace")
        let daemon = try await RunningDaemon(
            cameras: ["front": Product.sample("street-h265-aac.mp4")], folder: folder,
            // 8,192 bytes show a whole page of the database.
            wrapper: [
                "strace", "-f", "-y", "-o", trace, "-s", "8192", "-e",
                "trace=fdatasync,pwrite64,write,writev,sendto,sendmsg",
            ])
        let written = try await daemon.api.write("front", "ProUser._buildIn.val.nickName", #""durable-42""#, key: "k42")
        #expect(written)
        await daemon.stop()
        let calls = try SystemCallTrace(file: trace).calls
        // In this order: the request on its way to the hub, the database log's pages, the sync to disk, the answer.
        let request = try #require(
            calls.first { $0.text.contains("property.write") && $0.text.contains("durable-42") })
        let answer = try #require(
            calls.first {
                $0.begin > request.begin && $0.name != "pwrite64" && $0.text.contains(#"\"k42\""#)
                    && $0.text.contains(#"\"code\":0"#)
            }, "no answer in the trace")
        let log = "<\(folder.path("data/hub.sqlite-wal"))>"
        let page = try #require(
            calls.first {
                $0.name == "pwrite64" && $0.text.contains(log) && $0.text.contains("durable-42")
                    && (request.begin..<answer.begin).contains($0.begin)
            }, "the write was not in the database's log when its answer was sent")
        let pageEnd = try #require(page.end)
        #expect(
            calls.contains {
                $0.name == "fdatasync" && $0.text.contains(log) && $0.begin > pageEnd
                    && $0.succeeded(before: answer.begin)
            }, "the answer was sent before the write was on the disk")
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

    @Test("After the broker was killed, the link is online again, and nothing is lost")
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
