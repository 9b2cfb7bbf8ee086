import Foundation
import Testing

/// A daemon that records its cameras.
@Suite(.serialized, .timeLimit(.minutes(3))) struct RecordingTests {
    private static let sample = "street-h264-aac.mp4"

    private static func configuration(directory: String = "rec") -> String {
        """
        recording:
          directory: \(directory)
          sync: strict
          freeSpace: 0
        cameras:
          - {name: front, url: \(Product.sample(sample)), record: continuous}

        """
    }

    /// The segments' files, in the order of their beginnings.
    private static func segments(in folder: TemporaryFolder) -> [String] {
        let directory = folder.path("rec/00000001")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().map { directory + "/" + $0 }
    }

    /// Waits until the newest segment holds pictures.
    private static func pictures(_ count: Int, in folder: TemporaryFolder, segments number: Int) async throws {
        try await eventually("\(count) pictures in segment \(number)") {
            let files = segments(in: folder)
            guard files.count == number, let last = files.last else { return false }
            return (try? await FrameDigests.of(last).count) ?? 0 >= count
        }
    }

    /// Each segment decodes without an error message, and its pictures are those of the source from a key frame on.
    ///
    /// - Parameter mode: the files' permissions; `nil` for any.
    private static func check(_ files: [String], mode wanted: Int? = 0o640) async throws {
        let source = try await FrameDigests.of(Product.sample(sample))
        let keyFrames = try await FrameDigests.keyFrames(of: Product.sample(sample))
        for file in files {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(wanted == nil || mode == wanted, "the group may read it")
            let outcome = try await Program.named("ffmpeg", ["-v", "error", "-i", file, "-f", "null", "-"]).run()
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(file): \(outcome.errors)")
            let pictures = try await FrameDigests.of(file)
            let start = FrameDigests.position(of: pictures, inRepeated: source)
            #expect(start.map(keyFrames.contains) == true, "\(file): \(pictures.count) pictures")
        }
    }

    /// Writes a plan of one section.
    private static func plan(_ daemon: RunningDaemon, dayOfWeek: Int) async throws -> Program.Outcome {
        try await daemon.iotctl(
            "property", "write", "front", "ProWritable.recordPlan.setVal",
            #"{"timeSection1":{"desc":"","enable":1,"dayOfWeek":\#(dayOfWeek),"begin":0,"end":1440}}"#)
    }

    @Test("A camera is recorded while it is on and by its plan; a killed daemon's recording is completed")
    func recording() async throws {
        let folder = try TemporaryFolder()
        do {
            let daemon = try await RunningDaemon(folder: folder, configuration: Self.configuration())
            try await Self.pictures(12, in: folder, segments: 1)
            // Off: the segment ends. On: another one begins.
            let off = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "0")
            #expect(off.status == 0, "\(off.errors)")
            let on = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "1")
            #expect(on.status == 0, "\(on.errors)")
            try await Self.pictures(12, in: folder, segments: 2)
            let refused = try await Self.plan(daemon, dayOfWeek: 128)
            #expect(refused.status == 1 && refused.errors.contains("from 0 to 127"), "\(refused)")
            // A day that neither begins nor ends during the test. Bit 0 is Monday; in Foundation 1 is Sunday.
            let weekday = (Calendar.current.component(.weekday, from: Date()) + 5) % 7
            let excluding = try await Self.plan(daemon, dayOfWeek: 1 << ((weekday + 3) % 7))
            #expect(excluding.status == 0, "\(excluding)")
            try await eventually("the plan ends the recording") {
                try await !daemon.iotctl("recording", "list", "front").text.contains("growing")
            }
            #expect(await daemon.stop() == 0)
        }
        try await Self.check(Self.segments(in: folder))

        do {
            let daemon = try await RunningDaemon(folder: folder, configuration: Self.configuration())
            try await eventually("the camera is ready, and not recorded") {
                let shown = try await daemon.iotctl("camera", "show", "front").text
                return shown.contains("ready")
                    && shown.contains(#/recording +waiting.*, only by ProWritable.recordPlan/#)
            }
            #expect(Self.segments(in: folder).count == 2)
            let including = try await Self.plan(daemon, dayOfWeek: 0)
            #expect(including.status == 0, "\(including)")
            try await Self.pictures(12, in: folder, segments: 3)
            daemon.kill()
            _ = await daemon.ended()
        }
        let daemon = try await RunningDaemon(folder: folder, configuration: Self.configuration())
        try await eventually("the interrupted recording is completed") {
            daemon.log.contains("an interrupted recording was completed")
        }
        try await Self.pictures(12, in: folder, segments: 4)
        #expect(await daemon.stop() == 0)
        try await Self.check(Self.segments(in: folder))
    }

    @Test("Recordings are listed, downloaded in parts, kept and removed; a guest sees what its binding allows")
    func reading() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await RunningDaemon(
            folder: folder,
            configuration: "api: {listen: \"127.0.0.1:0\", tls: false}\n" + Self.configuration()
                + "  - {name: yard, url: \(Product.sample(Self.sample))}\n")
        try await Self.pictures(12, in: folder, segments: 1)
        let growing = try await daemon.iotctl("camera", "show", "front").text
        #expect(growing.contains(#/recording +recording, [1-9]/#), "\(growing)")
        _ = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "0")
        try await eventually("the recording is complete") {
            try await daemon.iotctl("recording", "list", "front").text.contains("complete")
        }
        _ = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "1")
        try await Self.pictures(12, in: folder, segments: 2)

        let list = try await daemon.api.request("GET", "/v1/devices/front/recordings")
        let recordings = try #require(list.object["recordings"] as? [[String: Any]])
        #expect(recordings.map { $0["state"] as? String } == ["complete", "growing"], "\(recordings)")
        let shown = try await daemon.iotctl("camera", "show", "front").text
        #expect(shown.contains(#/recording +recording, \d/#), "\(shown)")
        let clip = folder.path("clip.mp4")
        let exported = try await daemon.iotctl("recording", "export", "front", "--from", "1h", "--output", clip)
        #expect(exported.status == 0 && exported.text.hasPrefix("\(clip): "), "\(exported.errors)")
        #expect(try await FrameDigests.of(clip).count >= 24, "both recordings")
        let ranges = try await daemon.iotctl("recording", "ranges", "front", "--json")
        #expect(ranges.status == 0 && ranges.text.contains("\"start\""), "\(ranges.errors)")
        let days = try await daemon.iotctl("recording", "days", "front", "--zone", "Pacific/Kiritimati")
        #expect(days.text.wholeMatch(of: #/\d{4}-\d\d-\d\d\s*/#) != nil, "\(days.text)\(days.errors)")
        #expect(try await daemon.iotctl("recording", "days", "front", "--zone", "Nowhere").status == 1)
        let never = try await daemon.iotctl("recording", "list", "yard", "--json")
        #expect(never.status == 0 && !never.text.contains("growing"), "a camera that is not recorded")

        // A download that broke off is continued, and gives the file itself.
        let file = try Data(contentsOf: URL(fileURLWithPath: Self.segments(in: folder)[0]))
        let head = try await daemon.api.request(
            "GET", "/v1/devices/front/recordings/1/video.mp4",
            headers: [
                "Range: bytes=4-7", "If-None-Match: \"0\"",
            ])
        #expect(head.status == 206 && head.body == Data("ftyp".utf8))
        let target = folder.path("one.mp4")
        let first = try await daemon.iotctl("recording", "download", "front", "1", "--output", target)
        #expect(first.status == 0, "\(first.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == file)
        let tag = try #require(try await daemon.recordingTag("front", "1"))
        let part = folder.path("two.mp4.\(tag).part")
        try (file.prefix(1_000) + Data(repeating: 0x2A, count: 10)).write(to: URL(fileURLWithPath: part))
        let second = try await daemon.iotctl("recording", "download", "front", "1", "--output", folder.path("two.mp4"))
        let resumed = try Data(contentsOf: URL(fileURLWithPath: folder.path("two.mp4")))
        #expect(second.status == 0 && resumed.count == file.count && resumed[1_005] == 0x2A, "what was there stays")
        #expect(resumed.dropFirst(1_010) == file.dropFirst(1_010) && !FileManager.default.fileExists(atPath: part))
        // A complete file is not downloaded again, unless it was changed or is another recording.
        let repeated = try await daemon.iotctl("recording", "download", "front", "1", "--output", target)
        #expect(repeated.text.contains(", already there"), "\(repeated)")
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: target))
        try handle.write(contentsOf: Data(count: file.count))
        try handle.close()
        let mended = try await daemon.iotctl("recording", "download", "front", "1", "--output", target)
        #expect(mended.status == 0 && !mended.text.contains("already"), "\(mended)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == file)
        // The growing one is whole fragments.
        let grown = folder.path("growing.mp4")
        let third = try await daemon.iotctl("recording", "download", "front", "2", "--output", grown)
        #expect(third.status == 0, "\(third.errors)")
        try await Self.check([target], mode: nil)
        try await Self.check([grown], mode: nil)

        // A player of a playlist gets the same pictures; a media key is enough.
        let key = try await daemon.iotctl(
            "key", "create", "tv", "--device", "front", "--action", "view", "--action", "playback", "--ttl", "1h")
        let end = try #require(recordings[0]["end"] as? Int)
        let origin = try daemon.tcpAPI().origin
        let playlist =
            "\(origin)/v1/devices/front/recordings/playlist.m3u8?to=\(end)&key="
            + key.text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await FrameDigests.of(playlist) == FrameDigests.of(target))

        // Without the action `playback`, a guest does not see them.
        #expect(try await daemon.iotctl("user", "create", "guest").status == 0)
        let token = try await daemon.iotctl("token", "create", "--api", "--user", "guest")
        #expect(token.status == 0, "\(token.errors)")
        let guest = try daemon.tcpAPI(token: token.text.trimmingCharacters(in: .whitespacesAndNewlines))
        for (actions, status) in [(["view"], 403), (["view", "playback"], 200)] {
            let bound = try await daemon.iotctl(
                ["device", "bind", "front", "guest"] + actions.flatMap { ["--action", $0] })
            #expect(bound.status == 0, "\(bound.errors)")
            #expect(try await guest.request("GET", "/v1/devices/front/recordings").status == status, "\(actions)")
        }
        let refused = try await guest.request("DELETE", "/v1/devices/front/recordings", body: #"{"from":0,"to":9}"#)
        #expect(refused.status == 403, "\(refused)")

        // What is kept stays. A camera that is off begins no further recordings.
        _ = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "0")
        try await eventually("all recordings are complete") {
            try await !daemon.iotctl("recording", "list", "front").text.contains("growing")
        }
        let count = Self.segments(in: folder).count
        let kept = try await daemon.iotctl("recording", "keep", "front", "--from", "1h", "--json")
        #expect(kept.status == 0, "\(kept.errors)")
        let id = try #require(kept.text.firstMatch(of: #/"id": "(\d+)"/#)).1
        let held = try await daemon.iotctl("recording", "remove", "front", "--from", "1h", "--yes")
        #expect(
            held.text.contains("removed 0") && held.errors.contains("\(count) stay because they are kept"),
            "\(held.errors)")
        #expect(try await daemon.iotctl("recording", "release", "front", String(id)).status == 0)
        let removed = try await daemon.iotctl("recording", "remove", "front", "--from", "1h", "--yes")
        #expect(removed.text.contains("removed \(count)"), "\(removed.text)\(removed.errors)")
        #expect(try await daemon.api.request("GET", "/v1/devices/front/recordings/1/video.mp4").status == 404)
        let check = try await daemon.iotctl("recording", "check", "--thorough")
        #expect(check.status == 0 && check.text.contains("everything fits"), "\(check.text)\(check.errors)")
        #expect(Self.segments(in: folder).isEmpty)
        #expect(await daemon.stop() == 0)
    }

    @Test("A camera that records events is recorded from before an event until after it; its users get the event")
    func events() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await RunningDaemon(
            folder: folder,
            configuration: """
                recording: {directory: rec, sync: strict, freeSpace: 0, beforeEvent: 2s, afterEvent: 1s}
                cameras:
                  - {name: front, url: \(Product.sample(Self.sample)), record: events}
                  - {name: yard, url: \(Product.sample("street-h265-aac.mp4")), record: events, motion: medium}

                """)
        try await eventually("the camera delivers pictures") {
            try await daemon.iotctl("camera", "show", "front").text.contains(#/state +ready/#)
        }
        // Two seconds and a group of pictures are in memory.
        _ = try await daemon.iotctl("monitor", "front", "--duration", "6s")
        #expect(Self.segments(in: folder).isEmpty)
        let reported = try await daemon.iotctl("camera", "event", "front", "motion", "--json")
        #expect(reported.status == 0 && reported.text.contains(#/"recorded": true/#), "\(reported.errors)")
        let start = try #require(reported.text.firstMatch(of: #/"start": (\d+)/#).flatMap { Int($0.1) })
        try await eventually("the recording has ended") {
            try await daemon.iotctl("recording", "list", "front").text.contains("complete")
        }
        let list = try await daemon.api.request("GET", "/v1/devices/front/recordings")
        let recordings = try #require(list.object["recordings"] as? [[String: Any]])
        #expect(recordings.allSatisfy { $0["reason"] as? String == "motion" }, "\(recordings)")
        let first = try #require(recordings.first?["start"] as? Int)
        let last = try #require(recordings.last?["end"] as? Int)
        #expect(first <= start - 1_500 && last >= start + 500, "\(first - start) \(last - start)")
        try await Self.check(Self.segments(in: folder))
        let stored = try await daemon.iotctl("event", "list", "--json")
        #expect(stored.text.contains("EVENT_CAM/Detection") && stored.text.contains("32769"), "\(stored.text)")
        try await eventually("the box has seen the cars in the yard") {
            try await daemon.iotctl("recording", "list", "yard").text.contains("motion")
        }
        #expect(
            try await daemon.iotctl("event", "list", "--device", "yard", "--json").text.contains("\"type\": \"motion\"")
        )
        let wrong = try await daemon.iotctl("camera", "event", "front", "thunder")
        #expect(wrong.status != 0 && wrong.errors.contains("doorbell"), "\(wrong.errors)")
        #expect(await daemon.stop() == 0)
    }

    @Test("A new owner sees only what is recorded from then on, over HTTP and as HLS; another account sees nothing")
    func newOwner() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await RunningDaemon(
            folder: folder, configuration: "api: {listen: \"127.0.0.1:0\", tls: false}\n" + Self.configuration())
        try await Self.pictures(12, in: folder, segments: 1)
        _ = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "0")
        _ = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "1")
        try await Self.pictures(12, in: folder, segments: 2)
        let path = "/v1/devices/front/recordings"
        #expect(try await daemon.iotctl("recording", "keep", "front", "--from", "1h").status == 0)
        var accounts: [String: APIClient] = [:]
        for name in ["bob", "carol"] {
            #expect(try await daemon.iotctl("user", "create", name).status == 0)
            let token = try await daemon.iotctl("token", "create", "--api", "--user", name)
            accounts[name] = try daemon.tcpAPI(token: token.text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        let (bob, carol) = (try #require(accounts["bob"]), try #require(accounts["carol"]))
        for client in [bob, carol] { #expect(try await client.request("GET", path).status == 404) }

        func events(_ client: APIClient) async throws -> [Int] {
            let answer = try await client.request("GET", "/v1/device-events?device=front")
            let events = try #require(answer.object["events"] as? [[String: Any]], "\(answer)")
            return events.compactMap { ($0["id"] as? String).flatMap { Int($0) } }
        }
        #expect(try await daemon.iotctl("camera", "event", "front", "motion").status == 0)
        try await eventually("the event at the hub") { try await !events(daemon.api).isEmpty }
        let newest = try await events(daemon.api).max() ?? 0
        let before = Int(Date().timeIntervalSince1970 * 1_000)
        let bound = try await daemon.iotctl("device", "bind", "front", "bob", "--role", "owner", "--force")
        #expect(bound.status == 0, "\(bound.errors)")
        #expect(try await daemon.api.request("GET", path).status == 404, "the earlier owner is not bound any more")
        /// What the new owner has recorded; nothing else is listed.
        func own() async throws -> [String] {
            let list = try #require(try await bob.request("GET", path).object["recordings"] as? [[String: Any]])
            #expect(list.allSatisfy { $0["start"] as? Int ?? 0 >= before }, "\(list)")
            return list.compactMap { $0["id"] as? String }
        }
        #expect([[], ["3"]].contains(try await own()))
        #expect(try await events(bob).allSatisfy { $0 > newest })
        for (request, status) in [
            ("/1/video.mp4", 404), ("/2/video.mp4", 404), ("/2/init.mp4", 404), ("/1/media.m4s?first=0&count=1", 404),
            ("/playlist.m3u8?from=0", 404), ("/ranges", 200), ("/days", 200), ("/kept", 200),
        ] {
            let answer = try await bob.request("GET", path + request)
            #expect(answer.status == status, "\(request): \(answer)")
            guard status == 200, (answer.object.values.first as? [Any])?.isEmpty != true else { continue }
            #expect(request != "/kept")
            #expect(try await own() == ["3"], "\(answer)")
        }
        // The next key frame begins a segment of the new owner.
        try await Self.pictures(12, in: folder, segments: 3)
        #expect(try await own() == ["3"])
        #expect(try await bob.request("GET", path + "/3/video.mp4").status == 200)
        #expect(try await carol.request("GET", path).status == 404)
        let check = try await daemon.iotctl("recording", "check", "--thorough")
        #expect(check.status == 0 && check.text.contains("everything fits"), "\(check.text)\(check.errors)")
        #expect(await daemon.stop() == 0)
    }

    @Test("A thumbnail is the key frame at its time, as ffmpeg decodes it from the file")
    func thumbnail() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await RunningDaemon(folder: folder, configuration: Self.configuration())
        try await Self.pictures(130, in: folder, segments: 1)
        _ = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "0")
        try await eventually("the recording is complete") {
            try await daemon.iotctl("recording", "list", "front").text.contains("complete")
        }
        let list = try await daemon.api.request("GET", "/v1/devices/front/recordings")
        let recording = try #require((list.object["recordings"] as? [[String: Any]])?.first)
        let (start, end) = (try #require(recording["start"] as? Int), try #require(recording["end"] as? Int))
        let file = Self.segments(in: folder)[0]
        let keys = try await FrameDigests.keyFrames(of: file)
        let count = try await FrameDigests.of(file).count
        try #require(keys.count > 1)
        let picture = folder.path("t.jpg")
        func likeness(at time: Int) async throws -> [Double] {
            let moment = ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: Double(time / 1_000)))
            let taken = try await daemon.iotctl("recording", "thumbnail", "front", picture, "--at", moment, "--json")
            #expect(taken.status == 0, "\(taken.errors)")
            let said = try #require(taken.text.firstMatch(of: #/"time": (\d+)/#)?.1).description
            #expect(try #require(Int(said)) <= time + 1_000)
            return try await Likeness.of(picture, toFramesOf: file)
        }
        // At whole seconds, and in the gap after the recording.
        for time in [(start / 1_000 + 2) * 1_000, (end / 1_000 + 30) * 1_000] {
            let likeness = try await likeness(at: time)
            let best = try #require(likeness.indices.max { likeness[$0] < likeness[$1] })
            let place = min(count - 1, (time + 999 - start) * count / (end - start))
            #expect(keys.last { $0 <= place } == best, "\(keys), \(place): \(best)")
            // As of a snapshot: JPEG is lossy.
            #expect(likeness[best] > 40, "\(likeness[best]) dB")
        }
        let small = try await daemon.iotctl(
            "recording", "thumbnail", "front", folder.path("s.jpg"), "--at", "now", "--size", "160")
        #expect(small.status == 0, "\(small.errors)")
        let size = try await Program.named(
            "ffprobe", ["-v", "error", "-show_entries", "stream=width", "-of", "csv=p=0", folder.path("s.jpg")]
        ).run()
        #expect(size.text.hasPrefix("160"), "\(size.text)")
        let many = try await daemon.iotctl(
            "recording", "thumbnails", "front", "--from", "1h", "--every", "1s", "--size", "64", "--output",
            folder.path("many"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("many"))
        #expect(many.status == 0 && !names.isEmpty && names.count <= keys.count, "\(many)")
        for name in names {
            #expect(
                FileManager.default.contents(atPath: folder.path("many/" + name))?.starts(with: [0xFF, 0xD8]) == true)
        }
        let before = try await daemon.iotctl("recording", "thumbnail", "front", picture, "--at", "2h")
        #expect(before.status == 1 && before.errors.contains("21032"), "\(before.errors)")
        #expect(await daemon.stop() == 0)
    }

    @Test("The storage service tells what is recorded, by days and times, and gives an address that a player plays")
    func storage() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await RunningDaemon(
            folder: folder,
            configuration: "api: {listen: \"127.0.0.1:0\", tls: false}\n" + Self.configuration()
                + "  - {name: yard, url: \(Product.sample(Self.sample))}\n")
        func get(_ path: String, _ device: String = "front") async throws -> [String: Any] {
            let answer = try await daemon.api.request("GET", "/v1/devices/\(device)/storage" + path)
            #expect(answer.status == 200, "\(path): \(answer)")
            return answer.object
        }
        try await Self.pictures(60, in: folder, segments: 1)
        _ = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "0")
        try await eventually("the recording is complete") {
            try await daemon.iotctl("recording", "list", "front").text.contains("complete")
        }
        let list = try await daemon.api.request("GET", "/v1/devices/front/recordings")
        let recording = try #require((list.object["recordings"] as? [[String: Any]])?.first)
        let start = try #require(recording["start"] as? Int) / 1_000
        let end = (try #require(recording["end"] as? Int) + 999) / 1_000

        let detail = try await get("?channel=0")
        #expect(detail["status"] as? Int == 1 && detail["playbackStartTime"] as? Int == start, "\(detail)")
        #expect(try await get("", "yard")["status"] as? Int == 3)
        let other = try await daemon.api.request("GET", "/v1/devices/front/storage?channel=1")
        #expect(other.status == 404, "\(other)")
        for offset in [-50_400, 0, 50_400] {
            let days = try await get("/days?timezone=\(offset)")["list"] as? [Int]
            #expect(days == [(start + offset) / 86_400 * 86_400 - offset], "\(offset)")
        }
        func times(_ query: String) async throws -> [[String: Int]]? {
            try await get("/playlist?" + query)["list"] as? [[String: Int]]
        }
        #expect(try await times("startTime=\(start - 9)&endTime=\(end + 9)") == [["start": start, "end": end]])
        #expect(try await times("startTime=\(start + 1)&endTime=0") == [["start": start + 1, "end": end]])
        #expect(try await times("startTime=\(start - 86_400)&endTime=\(end)") == [], "cut after a day")

        let address = try await get("/m3u8?startTime=\(start - 600)&endTime=0")
        #expect(address["endflag"] as? Bool == true && address["startTime"] as? Int == start, "\(address)")
        let url = try #require(address["url"] as? String)
        let origin = try daemon.tcpAPI().origin
        #expect(try await FrameDigests.of(origin + url) == FrameDigests.of(Self.segments(in: folder)[0]))
        let again = try await get("/m3u8?startTime=\(start)&endTime=\(end)")["url"] as? String
        let key = try #require(url.split(separator: "=").last)
        #expect(again?.hasSuffix("&key=\(key)") == true, "the same key again: \(again ?? "")")
        let open = try daemon.tcpAPI()
        #expect(try await open.request("GET", "/v1/devices/front/recordings?key=\(key)").status == 403)
        #expect(try await open.request("GET", "/v1/devices/front/snapshot?key=\(key)").status == 403)
        // As the picture of an event.
        let picture = try await open.request(
            "GET", "/v1/devices/front/recordings/thumbnail?key=\(key)&at=\(start + 1)500&size=320")
        #expect(picture.status == 200 && picture.body.starts(with: [0xFF, 0xD8]), "\(picture.status)")
        // The camera has reported that its source is ready.
        let events = try await get("/events?startTime=\(start - 600)&pageSize=1")
        let event = try #require((events["list"] as? [[String: Any]])?.first, "\(events)")
        #expect((event["alarmType"] as? Int).map { $0 & ~0x8000 } == 0 && events["validStartTime"] as? Int == start)
        #expect((try await get("/events?startTime=0&typeMasks=1")["list"] as? [Any])?.isEmpty == true)
        let videos = try await get("/events?startTime=0&typeMasks=32768")["list"] as? [[String: Any]]
        let valid = try await get("/events?startTime=0&validCloudStorage=true")["list"] as? [[String: Any]]
        #expect(videos?.count == valid?.count)
        for event in videos ?? [] {
            #expect((event["startTime"] as? Int).map { $0 >= start - 1 && $0 <= end } == true, "\(event)")
        }
        let none = try await daemon.api.request("GET", "/v1/devices/front/storage/m3u8?startTime=0&endTime=9")
        #expect(none.status == 404, "\(none)")
        #expect(await daemon.stop() == 0)
    }

    @Test("With a key, the disk has nothing that plays; downloads and `decrypt` have the recording; without it 21039")
    func encrypted() async throws {
        let folder = try TemporaryFolder()
        let made = try await Program(
            path: Product.program("iotctl"), arguments: ["recording", "key", folder.path("key")]
        ).run()
        #expect(made.status == 0, "\(made.errors)")
        let encrypted = Self.configuration().replacing(
            "  sync: strict\n", with: "  sync: strict\n  keyFiles: [\(folder.path("key"))]\n")
        do {
            let daemon = try await RunningDaemon(folder: folder, configuration: encrypted)
            // The index learns of a second when the next one is synced.
            try await eventually("some seconds are recorded") {
                let list = try await daemon.iotctl("recording", "list", "front").text
                return list.contains(#/ [3-9]\.\d+ s .* growing/#)
            }
            daemon.kill()
            _ = await daemon.ended()
        }
        // Without the key: what is there is listed, and the camera is recorded as before.
        let daemon = try await RunningDaemon(folder: folder, configuration: Self.configuration())
        try await Self.pictures(12, in: folder, segments: 2)
        let refused = try await daemon.iotctl("recording", "download", "front", "1", "--output", folder.path("no.mp4"))
        #expect(refused.status == 1 && refused.errors.contains("recording.keyFiles"), "\(refused.errors)")
        let played = try await daemon.iotctl(
            "playback", "front", "--from", "1h", "--to", "now", "--record", folder.path("rest.mp4"))
        #expect(played.status == 1 && played.text.contains("not played"), "\(played)")
        #expect(try await FrameDigests.of(folder.path("rest.mp4")).count > 5, "what can be read is played")
        let check = try await daemon.iotctl("recording", "check", "--thorough")
        #expect(check.text.contains("00000001.mp4: the key"), "\(check.text)\(check.errors)")
        #expect(await daemon.stop() == 0)

        let again = try await RunningDaemon(folder: folder, configuration: encrypted)
        let file = folder.path("one.mp4")
        let download = try await again.iotctl("recording", "download", "front", "1", "--output", file)
        #expect(download.status == 0, "\(download.errors)")
        #expect(await again.stop() == 0)
        let stored = Self.segments(in: folder)[0]
        let other = folder.path("two.mp4")
        let decrypted = try await Program(
            path: Product.program("iotctl"),
            arguments: ["recording", "decrypt", stored, "--key", folder.path("key"), "--output", other]
        ).run()
        #expect(decrypted.status == 0, "\(decrypted.errors)")
        // Without the key, only what was in the index could be completed; the file has the rest, too.
        let whole = try #require(FileManager.default.contents(atPath: other))
        let completed = try #require(FileManager.default.contents(atPath: file))
        #expect(whole.starts(with: completed) && completed.count > whole.count / 2)
        try await Self.check([file], mode: nil)
        let probed = try await Program.named("ffprobe", ["-v", "error", stored]).run()
        #expect(probed.status != 0)
    }

    @Test("Without a directory for recordings, no camera is recorded, and the refusal says what to set")
    func withoutDirectory() async throws {
        let daemon = try await RunningDaemon()
        let url = Product.sample(Self.sample)
        let added = try await daemon.iotctl("camera", "add", "front", url, "--record", "continuous")
        #expect(added.status != 0 && added.errors.contains("recording.directory"), "\(added.errors)")
        #expect(try await daemon.iotctl("camera", "add", "front", url).status == 0)
        let changed = try await daemon.iotctl("camera", "set", "front", "--record", "continuous")
        #expect(changed.status != 0 && changed.errors.contains("recording.directory"), "\(changed.errors)")
        let camera = try await daemon.iotctl("camera", "show", "front", "--json")
        #expect(camera.status == 0 && !camera.text.contains("continuous"), "\(camera.text)")
        await daemon.stop()
    }

    @Test("A recorded camera still runs after the directory has left the configuration, and says it is not recorded")
    func lostDirectory() async throws {
        let folder = try TemporaryFolder()
        do {
            let daemon = try await RunningDaemon(folder: folder, configuration: Self.configuration())
            let added = try await daemon.iotctl(
                "camera", "add", "yard", Product.sample(Self.sample), "--record", "continuous")
            #expect(added.status == 0, "\(added.errors)")
            // Its own limits, and no sound.
            let limited = try await daemon.iotctl(
                "camera", "set", "yard", "--record-bytes", "200000000", "--record-days", "14", "--record-sound", "off")
            #expect(limited.status == 0, "\(limited.errors)")
            let shown = try await daemon.iotctl("camera", "show", "yard").text
            #expect(shown.contains(#/recording +recording, .* of 200\.0 MB, 14 days, no sound/#), "\(shown)")
            let freed = try await daemon.iotctl("camera", "set", "yard", "--no-record-bytes", "--no-record-days")
            #expect(freed.status == 0, "\(freed.errors)")
            let free = try await daemon.iotctl("camera", "show", "yard").text
            #expect(free.contains(#/recording +recording, [^,]*, no sound/#), "\(free)")
            #expect(await daemon.stop() == 0)
        }
        let daemon = try await RunningDaemon(folder: folder, configuration: "")
        let shown = try await daemon.iotctl("camera", "show", "yard").text
        #expect(shown.contains(#/recording +paused.*21039/#), "\(shown)")
        #expect(daemon.log.contains("the camera is not recorded"))
        await daemon.stop()
    }
}
