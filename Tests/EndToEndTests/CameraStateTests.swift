import Foundation
import Testing

/// Cameras that do not work, from the moment they are added.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CameraStateTests {
    private static let clip = Product.sample("street-h264-aac.mp4")
    private static let password = "s3cret-word"

    /// A camera that demands a password.
    private func guarded() async throws -> RTSPServer {
        try await RTSPServer(file: Self.clip, user: "viewer", password: Self.password)
    }

    private func file(_ text: String, in daemon: RunningDaemon) throws -> String {
        let path = daemon.folder.path("secret-\(text.count)")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("A wrong password is reported when the camera is added, and ONLINE is `no` until it is right")
    func wrongPassword() async throws {
        let (server, daemon) = (try await guarded(), try await RunningDaemon())
        let wrong = try file("wr0ng", in: daemon)
        let right = try file(Self.password, in: daemon)
        let login = ["--username", "viewer", "--password-file"]
        // With `--check` the camera is not added.
        let refused = try await daemon.iotctl(["camera", "add", "door", server.url] + login + [wrong, "--check"])
        #expect(refused.status == 1 && refused.errors.hasPrefix("error 25040 sourceRefused: "), "\(refused)")
        #expect(try await daemon.camera("door") == nil)
        // Without `--check` it is added, with a warning.
        let added = try await daemon.iotctl(["camera", "add", "door", server.url] + login + [wrong])
        #expect(added.status == 0 && added.text.hasPrefix("door is device "), "\(added)")
        #expect(added.errors.hasPrefix("warning door was added, but does not work: 25040 sourceRefused: "), "\(added)")
        let before = try #require(try await daemon.device("door"))
        #expect(before["online"] as? Bool == false && before["state"] as? String == "failed")
        #expect((before["reason"] as? [String: Any])?["code"] as? Int == 25040)
        let since = try #require(before["stateSince"] as? Int)
        #expect(abs(Double(since) / 1000 - Date().timeIntervalSince1970) < 120)
        let list = try await daemon.iotctl("device", "list")
        #expect(list.text.contains(#/ door .* no: failed +20/#), "\(list.text)")
        #expect(list.text.contains("door: 25040 sourceRefused: "), "\(list.text)")
        let shown = try await daemon.iotctl("camera", "show", "door")
        #expect(shown.text.contains(#/state +failed since 20/#) && shown.text.contains("25040"), "\(shown.text)")

        // With `--check`, a change that does not work is not made; one that works takes effect immediately.
        let unchanged = try await daemon.iotctl(["camera", "set", "door", "--password-file", wrong, "--check"])
        #expect(unchanged.status == 1 && unchanged.errors.hasPrefix("error 25040 "), "\(unchanged)")
        let changed = try await daemon.iotctl(["camera", "set", "door", "--password-file", right, "--check"])
        #expect(changed.status == 0 && changed.text.hasPrefix("door is ready: h264 768x576"), "\(changed)")
        let after = try #require(try await daemon.device("door"))
        #expect(after["id"] as? String == before["id"] as? String)
        try await eventually("the device online") {
            let device = try await daemon.device("door")
            return device?["online"] as? Bool == true && device?["state"] as? String == "ready"
                && device?["reason"] == nil
        }
        // The password is not sent to another host.
        let elsewhere = try await daemon.iotctl("camera", "set", "door", "rtsp://127.0.0.1:1/x")
        #expect(elsewhere.status == 1 && elsewhere.errors.hasPrefix("error 25001 "), "\(elsewhere)")
        for text in [daemon.log, added.errors, shown.text, changed.text, list.text] {
            #expect(!text.contains(Self.password) && !text.contains("wr0ng"))
        }
        server.stop()
        try await eventually("the loss", within: .seconds(40)) {
            try await daemon.device("door")?["online"] as? Bool == false
        }
        await daemon.stop()
    }

    @Test("A camera whose file was removed fails within seconds, and works again when the file is back")
    func fileGone() async throws {
        let daemon = try await RunningDaemon()
        let path = daemon.folder.path("clip.mp4")
        try FileManager.default.copyItem(atPath: Self.clip, toPath: path)
        let added = try await daemon.iotctl("camera", "add", "clip", path)
        #expect(added.text.contains("clip is ready: h264"), "\(added)")
        try FileManager.default.removeItem(atPath: path)
        // The clip has 20 s: the camera does not play the deleted file to its end.
        try await eventually("the loss", within: .seconds(8)) {
            try await daemon.camera("clip")?["state"] as? String == "failed"
        }
        let camera = try #require(try await daemon.camera("clip"))
        #expect((camera["reason"] as? [String: Any])?["code"] as? Int == 25042)
        try FileManager.default.copyItem(atPath: Self.clip, toPath: path)
        try await eventually("the camera", within: .seconds(40)) {
            try await daemon.camera("clip")?["state"] as? String == "ready"
        }
        #expect(try #require(try await daemon.camera("clip")?["since"] as? Int) > camera["since"] as? Int ?? .max)
        await daemon.stop()
    }

    @Test("Each cause of failure has its own message and number, in add --check and in test")
    func failures() async throws {
        let (server, daemon) = (try await guarded(), try await RunningDaemon())
        let wrong = try file("wr0ng", in: daemon)
        let text = daemon.folder.path("text.mp4")
        try "This is not a video.\n".write(toFile: text, atomically: true, encoding: .utf8)
        let right = try file(Self.password, in: daemon)
        let cases: [(url: String, login: String?, code: String, words: String)] = [
            (server.url, wrong, "25040 sourceRefused", "refused the user name or password"),
            (server.url, nil, "25040 sourceRefused", "refused the user name or password"),
            (server.url + "/other", right, "25042 sourceNotFound", "has no stream at"),
            (RTSPServer.url(port: try RTSPServer.freePort()), nil, "25010 sourceUnreachable", "Connection refused"),
            ("rtsp://door.invalid/x", nil, "25041 sourceHostUnknown", "'door.invalid' has no address"),
            ("/nonexistent/clip.mp4", nil, "25042 sourceNotFound", "there is no file /nonexistent/clip.mp4"),
            (text, nil, "25011 sourceUnsupported", "is not a video"),
        ]
        for (url, login, code, words) in cases {
            let options = login.map { ["--username", "viewer", "--password-file", $0] } ?? []
            for command in [["camera", "test", url], ["camera", "add", "x", url, "--check"]] {
                let failed = try await daemon.iotctl(command + options)
                #expect(failed.status == 1 && failed.errors.hasPrefix("error \(code): "), "\(failed)")
                #expect(failed.errors.contains(words), "\(failed)")
            }
        }
        #expect(try await daemon.camera("x") == nil)
        await daemon.stop()
    }

    @Test("camera test names what the source sends and what browsers play, and saves a picture")
    func test() async throws {
        let (server, daemon) = (try await guarded(), try await RunningDaemon())
        let picture = daemon.folder.path("door.jpg")
        let right = try file(Self.password, in: daemon)
        let tested = try await daemon.iotctl(
            "camera", "test", server.url, "--username", "viewer", "--password-file", right, "--snapshot", picture)
        #expect(tested.status == 0 && tested.errors.isEmpty, "\(tested)")
        #expect(tested.text.contains("video: h264 768x576 10 fps, Main 3.1, "), "\(tested.text)")
        #expect(tested.text.contains("no B-frames\n  browsers play it: H.264 Main"), "\(tested.text)")
        #expect(tested.text.contains("browsers play it: made into Opus here"), "\(tested.text)")
        #expect(try await Self.size(of: picture) == "mjpeg,768,576")
        // Over the API, with a file.
        let clip = Product.sample("street-h264-bframes-pcma.mkv")
        let answer = try await daemon.api.request(
            "POST", "/v1/camera-tests", body: #"{"url":"\#(clip)","picture":true}"#)
        #expect(answer.status == 200)
        let tracks = try #require(answer.object["tracks"] as? [[String: Any]])
        #expect(tracks[0]["bFrames"] as? Bool == true && tracks[0]["profile"] as? String == "High")
        #expect((tracks[0]["browsers"] as? [String: Any])?["plays"] as? String == "no")
        #expect(tracks[0]["keyFrameSeconds"] as? Double == 2 && tracks[1]["codec"] as? String == "pcma")
        let data = try #require((answer.object["picture"] as? [String: Any])?["data"] as? String)
        #expect(Data(base64Encoded: data)?.starts(with: [0xFF, 0xD8, 0xFF]) == true)
        let json = try await daemon.iotctl("camera", "test", Product.sample("street-h265-aac.mp4"), "--json")
        #expect(json.text.contains(#""plays": "some""#) && json.text.contains(#""profile": "Main""#), "\(json.text)")
        // No camera was added.
        #expect(try await daemon.iotctl("camera", "list", "--json").text.contains(#""cameras": []"#))
        await daemon.stop()
    }

    @Test("At most four trials run at a time, and the trial of a source that never answers ends by itself")
    func bounds() async throws {
        let daemon = try await RunningDaemon()
        let silent = try RTSPServer.silent()
        defer { close(silent.descriptor) }
        let codes = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    let answer = try await daemon.api.request(
                        "POST", "/v1/camera-tests", body: #"{"url":"\#(silent.url)"}"#)
                    return (answer.object["error"] as? [String: Any])?["code"] as? Int ?? 0
                }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }.sorted()
        }
        #expect(codes == [25010, 25010, 25010, 25010, 25024])
        // The four places are free again.
        let again = try await daemon.iotctl("camera", "test", Self.clip)
        #expect(again.status == 0, "\(again)")
        await daemon.stop()
    }

    @Test("A snapshot is one request: it returns the newest picture, scaled, or the reason why there is none")
    func snapshot() async throws {
        let daemon = try await RunningDaemon(cameras: [
            "front": Self.clip, "sound": Product.sample("noise-he-aac.m4a"),
            "dead": RTSPServer.url(port: try RTSPServer.freePort()),
        ])
        let file = daemon.folder.path("front.jpg")
        // Immediately after the start: the request waits for the first picture.
        let whole = try await daemon.iotctl("snapshot", "front", file)
        #expect(whole.status == 0, "\(whole)")
        #expect(try await Self.size(of: file) == "mjpeg,768,576")
        for (size, wanted) in [("320", "320,240"), ("400x100", "133,100"), ("5000", "768,576")] {
            let answer = try await daemon.api.request("GET", "/v1/devices/front/snapshot?size=\(size)")
            #expect(answer.status == 200)
            try answer.body.write(to: URL(fileURLWithPath: file))
            #expect(try await Self.size(of: file) == "mjpeg,\(wanted)")
        }
        for (path, status, code) in [
            ("front/snapshot?size=7", 400, 25001), ("front/snapshot?size=axb", 400, 25001),
            ("nobody/snapshot", 404, 8002), ("sound/snapshot", 409, 21040), ("dead/snapshot", 502, 25010),
        ] {
            // A new camera is still connecting.
            try await eventually("\(path): \(code)") {
                let answer = try await daemon.api.request("GET", "/v1/devices/\(path)")
                return answer.status == status
                    && (answer.object["error"] as? [String: Any])?["code"] as? Int == code
            }
        }
        let standard = try await daemon.iotctl("snapshot", "front", "-", "--size", "64")
        #expect(standard.output.starts(with: [0xFF, 0xD8, 0xFF]) && standard.errors.isEmpty)
        for arguments in [["snapshot", "front", "a.png"], ["snapshot", "front", "a.jpg", "--size", "huge"]] {
            #expect(try await daemon.iotctl(arguments).status == 2)
        }
        _ = try await daemon.iotctl("action", "front", "Action.cameraOn", "0")
        let off = try await daemon.iotctl("snapshot", "front", file)
        #expect(off.status == 1 && off.errors.hasPrefix("error 25023 "), "\(off)")
        try await eventually("off in the list of devices") {
            try await daemon.device("front")?["state"] as? String == "off"
        }
        await daemon.stop()
    }

    @Test("An administrator finds a device without an owner by its name")
    func deviceWithoutOwner() async throws {
        let daemon = try await RunningDaemon()
        #expect(try await daemon.iotctl("device", "create", "yard").status == 0)
        let renamed = try await daemon.iotctl("device", "rename", "yard", "porch")
        #expect(renamed.status == 0, "\(renamed)")
        let shown = try await daemon.iotctl("device", "show", "porch")
        #expect(shown.text.contains(#/state +offline/#) && shown.text.contains(#/owner +-/#), "\(shown)")
        #expect(try await daemon.iotctl("device", "export", "porch").text.contains(#""name": "porch""#))
        await daemon.stop()
    }

    @Test("A password in the URL and a port above 65535 are refused")
    func refusedURLs() async throws {
        let daemon = try await RunningDaemon()
        for (url, words) in [
            ("rtsp://u:s3cret@127.0.0.1/x", "`passwordFile`"), ("rtsp://127.0.0.1:99999/x", "ports are 1 to 65535"),
        ] {
            for path in ["/v1/cameras", "/v1/camera-tests"] {
                let name = path == "/v1/cameras" ? #""name":"x","# : ""
                let answer = try await daemon.api.request("POST", path, body: #"{\#(name)"url":"\#(url)"}"#)
                let text = String(decoding: answer.body, as: UTF8.self)
                #expect(answer.status == 400 && text.contains(words) && !text.contains("s3cret"), "\(text)")
            }
        }
        await daemon.stop()
    }

    private static func size(of picture: String) async throws -> String {
        try await Program.named(
            "ffprobe", ["-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0", picture]
        ).run().text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension RunningDaemon {
    /// The device of this name in the API's list.
    fileprivate func device(_ name: String) async throws -> [String: Any]? {
        let devices = try await api.request("GET", "/v1/devices").object["devices"] as? [[String: Any]]
        return devices?.first { $0["name"] as? String == name }
    }
}
