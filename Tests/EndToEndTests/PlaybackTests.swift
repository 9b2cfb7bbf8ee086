import Foundation
import Testing

/// What a camera's box has recorded is played over a channel, also to another box.
@Suite(.serialized, .timeLimit(.minutes(3))) struct PlaybackTests {
    private static let sample = "street-h264-aac.mp4"

    private func require(_ outcome: Program.Outcome) throws -> String {
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.text
    }

    /// The camera's box, which is also the hub.
    private func cameraBox(_ network: TestNetwork) async throws -> RunningDaemon {
        try await RunningDaemon(
            configuration: """
                hub:
                  tls:
                    listen: \(network.address("hub")):8883
                recording: {directory: rec, sync: strict, freeSpace: 0}
                cameras:
                  - {name: front, url: \(Product.sample(Self.sample)), record: continuous}

                """, prefix: network.prefix("hub"))
    }

    /// A guest's box with the actions.
    private func guestBox(
        _ network: TestNetwork, _ hub: RunningDaemon, _ actions: [String]
    ) async throws -> RunningDaemon {
        _ = try require(try await hub.iotctl("user", "create", "bob"))
        _ = try require(try await bind(hub, actions))
        let enrolment = try require(try await hub.iotctl("token", "create", "--enrol", "--user", "bob"))
        let folder = try TemporaryFolder()
        let file = folder.path("enrolment")
        _ = FileManager.default.createFile(
            atPath: file, contents: Data(enrolment.utf8), attributes: [.posixPermissions: 0o600])
        return try await RunningDaemon(
            folder: folder, arguments: ["--join", file], prefix: network.prefix("gateway"))
    }

    private func bind(_ hub: RunningDaemon, _ actions: [String]) async throws -> Program.Outcome {
        try await hub.iotctl(["device", "bind", "front", "bob"] + actions.flatMap { ["--action", $0] })
    }

    /// Records for some seconds, and switches the camera off, so that the recording is complete.
    private func record(_ hub: RunningDaemon) async throws {
        try await eventually("some seconds are recorded") {
            let list = try await hub.api.request("GET", "/v1/devices/front/recordings")
            guard let first = (list.object["recordings"] as? [[String: Any]])?.first,
                let start = first["start"] as? Int, let end = first["end"] as? Int
            else { return false }
            return end - start > 5_000
        }
        _ = try require(try await hub.iotctl("action", "front", "Action.cameraOn.ctlVal", "0"))
        try await eventually("the recording is complete") {
            try await hub.iotctl("recording", "list", "front").text.contains("complete")
        }
    }

    private func recordings(_ box: RunningDaemon, _ query: String = "") async throws -> [[String: Any]] {
        let list = try await box.api.request("GET", "/v1/devices/front/recordings" + query)
        try #require(list.status == 200, "\(String(decoding: list.body, as: UTF8.self))")
        return try #require(list.object["recordings"] as? [[String: Any]])
    }

    @Test("Another box lists and plays what is recorded, picture by picture; the right for it can be withdrawn")
    func otherBox() async throws {
        let network = try await TestNetwork(hosts: ["hub", "gateway"])
        let hub = try await cameraBox(network)
        let bob = try await guestBox(network, hub, ["view"])
        let withoutRight = try await bob.iotctl("playback", "front", "--from", "1h", "--duration", "1s")
        #expect(withoutRight.status == 1 && withoutRight.errors.hasPrefix("error 8003 "), "\(withoutRight.errors)")
        _ = try require(try await bind(hub, ["view", "playback"]))
        try await record(hub)

        // The lists are those of the camera's box.
        let own = try await recordings(hub)
        let (seen, newest) = (try await recordings(bob), try await recordings(bob, "?order=descending&limit=1"))
        #expect(seen.count == 1 && NSArray(array: seen) == NSArray(array: own), "\(seen)\n\(own)")
        #expect(NSArray(array: newest) == NSArray(array: own))
        let ranges = try require(try await bob.iotctl("recording", "ranges", "front"))
        #expect(ranges == (try require(try await hub.iotctl("recording", "ranges", "front"))))
        for zone in ["Pacific/Kiritimati", "UTC"] {
            let days = try require(try await bob.iotctl("recording", "days", "front", "--zone", zone, "--json"))
            let there = try require(try await hub.iotctl("recording", "days", "front", "--zone", zone, "--json"))
            #expect(days == there)
        }
        #expect(try await bob.iotctl("recording", "days", "front", "--zone", "Nowhere").status == 1)

        // Every picture of the file, as it is in the file.
        let file = hub.folder.path("there.mp4")
        _ = try require(try await hub.iotctl("recording", "download", "front", "1", "--output", file))
        let digests = try await FrameDigests.of(file)
        let played = bob.folder.path("played.mp4")
        let start = try #require(own[0]["start"] as? Int)
        let summary = try require(
            try await bob.iotctl("playback", "front", "--from", "1h", "--record", played))
        #expect(try await FrameDigests.of(played) == digests, "\(summary)")

        // The file itself; a download that broke off is continued.
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let copy = bob.folder.path("copy.mp4")
        _ = try require(try await bob.iotctl("recording", "download", "front", "1", "--output", copy))
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == bytes)
        let path = "/v1/devices/front/recordings/1/video.mp4"
        let range = try await bob.api.request("GET", path, headers: ["Range: bytes=4-7"])
        #expect(range.status == 206 && range.body == Data("ftyp".utf8))
        let tag = try await bob.recordingTag("front", "1")
        let resumed = bob.folder.path("resumed.mp4")
        try (bytes.prefix(1_000) + Data(repeating: 0x2A, count: 10))
            .write(to: URL(fileURLWithPath: "\(resumed).\(try #require(tag)).part"))
        _ = try require(try await bob.iotctl("recording", "download", "front", "1", "--output", resumed))
        let whole = try Data(contentsOf: URL(fileURLWithPath: resumed))
        #expect(whole.count == bytes.count && whole[1_005] == 0x2A && whole.dropFirst(1_010) == bytes.dropFirst(1_010))
        #expect(try await bob.api.request("GET", "/v1/devices/front/recordings/99/video.mp4").status == 404)

        // Its pictures, which the box of the camera decodes.
        func thumbnail(_ box: RunningDaemon, _ query: String) async throws -> APIClient.Answer {
            try await box.api.request("GET", "/v1/devices/front/recordings/\(query)")
        }
        let every = "from=\(start)&to=\(start + 5_000)&every=1000&size=160"
        for query in [
            "thumbnail?at=\(start + 2_000)", "thumbnail?at=\(start + 2_000)&size=64x64", "thumbnail",
            "thumbnails?\(every)",
        ] {
            let (there, here) = (try await thumbnail(bob, query), try await thumbnail(hub, query))
            #expect(there.status == 200 && there.body == here.body && here.body.count > 500, "\(query)")
        }
        #expect(try await thumbnail(bob, "thumbnail?at=1000").status == 404)
        let none = try await thumbnail(bob, "thumbnails?from=1000&to=9000&every=1000")
        #expect(none.status == 200 && (none.object["thumbnails"] as? [Any])?.isEmpty == true)

        // A clip of it, and its parts for a player.
        let (from, to) = (start + 1_000, start + 4_000)
        for query in ["clip.mp4?from=\(from)&to=\(to)", "playlist.m3u8?from=\(from)&to=\(to)", "1/init.mp4"] {
            let (there, here) = (try await thumbnail(bob, query), try await thumbnail(hub, query))
            #expect(there.status == 200 && there.body == here.body && here.body.count > 200, "\(query) \(there)")
        }
        let playlist = String(
            decoding: try await thumbnail(bob, "playlist.m3u8?from=\(from)&to=\(to)").body, as: UTF8.self)
        let media = playlist.split(separator: "\n").filter { $0.contains("media.m4s") }
        try #require(!media.isEmpty, "\(playlist)")
        for path in media {
            let (there, here) = (try await thumbnail(bob, String(path)), try await thumbnail(hub, String(path)))
            #expect(there.status == 200 && there.body == here.body && here.body.count > 10_000, "\(path)")
        }
        #expect(try await thumbnail(bob, "9/init.mp4").status == 404)
        #expect(try await thumbnail(bob, "1/media.m4s?first=60000&count=9").status == 404)
        #expect(try await thumbnail(bob, "playlist.m3u8?from=1000&to=9000").status == 404)
        #expect(try await thumbnail(bob, "clip.mp4?from=1000&to=9000").status == 404)

        // The storage service, of another box.
        func storage(_ box: RunningDaemon, _ path: String) async throws -> [String: Any] {
            let answer = try await box.api.request("GET", "/v1/devices/front/storage" + path)
            #expect(answer.status == 200, "\(path): \(answer)")
            return answer.object
        }
        let times = "startTime=\(start / 1_000 - 9)&endTime=0"
        for path in ["/days?timezone=3600", "/playlist?\(times)", "/events?\(times)&validCloudStorage=true"] {
            var (there, here) = (try await storage(bob, path), try await storage(hub, path))
            for name in ["imgUrlPrefix", "validStartTime", "validVideoStartTime"] {
                (there[name], here[name]) = (nil, nil)
            }
            #expect(NSDictionary(dictionary: there) == NSDictionary(dictionary: here), "\(path)")
        }
        let address = try await storage(bob, "/m3u8?\(times)")
        #expect(address["startTime"] as? Int == start / 1_000 && address["endflag"] as? Bool == true, "\(address)")
        try await eventually("the hub was told of the recording") {
            try await storage(bob, "")["startTime"] as? Int == start / 1_000
        }

        // A part of it, faster: at the speed 2 every picture comes, and no sound.
        let middle = ISO8601DateFormatter.string(
            from: Date(timeIntervalSince1970: Double(start / 1_000 + 2)), timeZone: .gmt,
            formatOptions: [.withInternetDateTime])
        let part = bob.folder.path("part.mp4")
        _ = try require(
            try await bob.iotctl(
                "playback", "front", "--from", middle, "--speed", "2", "--strategy", "single", "--record", part))
        let pictures = try await FrameDigests.of(part)
        #expect(!pictures.isEmpty && Array(digests.suffix(pictures.count)) == pictures, "from a key frame to the end")

        let empty = try await bob.iotctl("playback", "front", "--from", "now", "--snapshot", bob.folder.path("no.jpg"))
        #expect(empty.status == 1 && empty.errors.hasPrefix("error 21032 "), "\(empty.errors)")
        #expect(await bob.stop() == 0)
        #expect(await hub.stop() == 0)
    }

    @Test("What happened at a camera while it was recorded is told in step with its pictures, also to another box")
    func replay() async throws {
        let network = try await TestNetwork(hosts: ["hub", "gateway"])
        let hub = try await cameraBox(network)
        let bob = try await guestBox(network, hub, ["view", "playback"])
        try await eventually("it is recorded") {
            try await hub.iotctl("recording", "list", "front").text.contains("growing")
        }
        _ = try require(try await hub.iotctl("camera", "event", "front", "motion", "--duration", "1s"))
        _ = try require(try await hub.iotctl("property", "write", "front", "ProWritable.rotation.setVal", "180"))
        try await record(hub)

        struct Replay: Decodable {
            struct Item: Decodable {
                var time: Int
                var topic: String?
                var path: String?
            }
            var mode: String
            var items: [Item]
        }
        let output = try require(
            try await bob.iotctl(
                "playback", "front", "--from", "1h", "--events", "--json", "--raw-audio", bob.folder.path("a.wav")))
        let told = output.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Replay.self, from: Data($0.utf8))
        }
        #expect(told.map(\.mode) == ["overwrite"] + Array(repeating: "append", count: told.count - 1), "\(output)")
        #expect(told.first?.items.contains { $0.path == "ProReadonly.cameraOn" } == true, "\(output)")
        let items = told.dropFirst().flatMap(\.items)
        #expect(items.contains { $0.topic == "EVENT_CAM/Detection" }, "\(output)")
        #expect(items.contains { $0.path == "ProWritable.rotation" }, "\(output)")
        #expect(items.map(\.time) == items.map(\.time).sorted())
        // The same for people, from the middle on: the value holds, and the event is over.
        let stored = try await hub.api.request("GET", "/v1/device-events")
        let events = try #require(stored.object["events"] as? [[String: Any]])
        let event = try #require(events.first { $0["topic"] as? String == "EVENT_CAM/Detection" }?["t"] as? Int)
        let written = try #require(items.first { $0.path == "ProWritable.rotation" }?.time)
        let later = ISO8601DateFormatter.string(
            from: Date(timeIntervalSince1970: Double(max(event, written) / 1_000 + 3)), timeZone: .gmt,
            formatOptions: [.withInternetDateTime])
        let lines = try require(
            try await hub.iotctl("playback", "front", "--from", later, "--events", "--frames", "5"))
        #expect(lines.contains("ProWritable.rotation  180") && !lines.contains("EVENT_CAM/Detection"), "\(lines)")
        #expect(await bob.stop() == 0)
        #expect(await hub.stop() == 0)
    }

    @Test("A channel is paused, stepped, sought and sped up, and its state and events say so")
    func control() async throws {
        let network = try await TestNetwork(hosts: ["hub", "gateway"])
        let hub = try await cameraBox(network)
        let bob = try await guestBox(network, hub, ["view", "playback"])
        try await record(hub)
        let start = try #require(try await recordings(hub)[0]["start"] as? Int)

        let opened = try await bob.api.request("POST", "/v1/channels", body: #"{"device":"front","kind":"playback"}"#)
        try #require(opened.status == 201, "\(String(decoding: opened.body, as: UTF8.self))")
        let id = try #require(opened.object["id"] as? String)
        func change(_ body: String, _ method: String = "PATCH", _ path: String = "") async throws -> [String: Any] {
            let answer = try await bob.api.request(method, "/v1/channels/\(id)/playback\(path)", body: body)
            try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
            return answer.object
        }
        func refusal(_ body: String) async throws -> Int {
            try await bob.api.request("PATCH", "/v1/channels/\(id)/playback", body: body).status
        }
        func player(_ channel: [String: Any]) -> String? {
            ((channel["state"] as? [String: Any])?["player"] as? [String: Any])?["name"] as? String
        }
        func shown() async throws -> [String: Any] {
            try await bob.api.request("GET", "/v1/channels/\(id)").object
        }
        func playback(_ channel: [String: Any]) -> [String: Any] { channel["playback"] as? [String: Any] ?? [:] }

        #expect(try await refusal("{}") == 400)
        #expect(try await refusal(#"{"speed":33}"#) == 422)
        #expect(try await refusal(#"{"end":5}"#) == 422)
        #expect(try await refusal(#"{"time":5,"end":4}"#) == 422)
        #expect(try await refusal(#"{"time":5,"strategy":"backwards"}"#) == 422)

        // Paused from the beginning: one picture is shown.
        let paused = try await change(#"{"time":\#(start + 1_000),"paused":true}"#)
        #expect(playback(paused)["paused"] as? Bool == true && playback(paused)["time"] as? Int == start + 1_000)
        _ = try await bob.api.request("POST", "/v1/channels/\(id)/play")
        try await eventually("the sought picture is shown, and the player is paused") {
            let channel = try await shown()
            let video = (channel["statistics"] as? [String: Any])?["video"] as? [String: Any]
            return player(channel) == "paused" && video?["framesDecoded"] as? Int ?? 0 > 0
        }
        let first = try #require(playback(try await shown())["time"] as? Int)
        #expect((start + 990...start + 1_200).contains(first), "\(first - start)")
        try await eventually("a step shows a later picture") {
            _ = try await change("", "POST", "/step")
            return playback(try await shown())["time"] as? Int ?? 0 > first
        }
        // Key frames only.
        let fast = try await change(#"{"speed":8,"paused":false}"#)
        #expect(playback(fast)["speed"] as? Double == 8)
        try await eventually("everything is played") { playback(try await shown())["finished"] as? Bool == true }
        // A seek plays again.
        let again = try await change(#"{"time":\#(start),"speed":1}"#)
        #expect(playback(again)["finished"] as? Bool == false && playback(again)["paused"] as? Bool == false)
        try await eventually("it plays again") { player(try await shown()) == "playing" }

        // The right is withdrawn: the channel ends.
        _ = try require(try await bind(hub, ["view"]))
        try await eventually("the channel has ended") { player(try await shown()) == "stopped" }
        #expect(await bob.stop() == 0)
        #expect(await hub.stop() == 0)
    }
}
