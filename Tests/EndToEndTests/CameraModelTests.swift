import Foundation
import Testing

/// A camera's model shows the measured properties of its stream.
@Suite(.serialized, .timeLimit(.minutes(3))) struct CameraModelTests {
    private func stream(_ daemon: RunningDaemon, _ camera: String) async throws -> [String: Any] {
        let value = try await daemon.api.read(camera, "ProReadonly.videoStream.stVal")
        return value as? [String: Any] ?? [:]
    }

    @Test("Two clips give different measured values, and a size that changes midway is followed")
    func measured() async throws {
        let daemon = try await RunningDaemon(cameras: [
            "bunny": Product.sample("bunny-h264-aac51.mp4"), "street": Product.sample("street-h265-aac.mp4"),
            "changing": Product.sample("street-h264-size-change.ts"),
        ])
        try await eventually("measured rates") {
            guard let bunny = try await stream(daemon, "bunny")["bitrate"] as? Int,
                let street = try await stream(daemon, "street")["bitrate"] as? Int
            else { return false }
            return bunny > 0 && street > 0
        }
        let bunny = try await stream(daemon, "bunny")
        let street = try await stream(daemon, "street")
        #expect(bunny["codec"] as? String == "h264" && street["codec"] as? String == "h265")
        #expect(bunny["width"] as? Int == 1280 && bunny["height"] as? Int == 720)
        #expect(street["width"] as? Int == 768 && street["height"] as? Int == 576)
        #expect(abs((bunny["frameRate"] as? Double ?? 0) - 25) < 1)
        #expect(abs((street["frameRate"] as? Double ?? 0) - 10) < 1)

        var sizes: Set<Int> = []
        try await eventually("both sizes of the changing clip") {
            if let width = try await stream(daemon, "changing")["width"] as? Int { sizes.insert(width) }
            return sizes == [384, 768]
        }
        await daemon.stop()
    }

    @Test("cameraOn 0 stops the packets to a viewer, and the digital twin follows; 1 resumes them")
    func cameraOn() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("bunny-h264-aac51.mp4")])
        let opened = try await daemon.api.request("POST", "/v1/channels", body: #"{"device":"front"}"#)
        let id = try #require(opened.object["id"] as? String, "\(opened)")
        _ = try await daemon.api.request("POST", "/v1/channels/\(id)/play")
        func packets() async throws -> Int {
            let channel = try await daemon.api.request("GET", "/v1/channels/\(id)").object
            let statistics = channel["statistics"] as? [String: Any]
            return (statistics?["video"] as? [String: Any])?["packetsReceived"] as? Int ?? 0
        }
        try await eventually("packets") { try await packets() > 100 }
        let off = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "0")
        #expect(off.status == 0, "\(off.errors)")
        try await eventually("the twin") {
            try await daemon.api.read("front", "ProReadonly.cameraOn.stVal") as? Int == 0
        }
        // Packets that were on their way have arrived before the second reading.
        _ = try await packets()
        let before = try await packets()
        try await ContinuousClock().sleep(for: .milliseconds(700))
        #expect(try await packets() == before, "packets came while the camera was off")
        _ = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "1")
        try await eventually("packets again") { try await packets() > before + 50 }

        _ = try await daemon.iotctl("action", "front", "Action.cameraOn.ctlVal", "0")
        _ = try await daemon.api.request("DELETE", "/v1/channels/\(id)")
        let refused = try await daemon.iotctl("monitor", "front", "--frames", "1")
        #expect(refused.status == 1 && refused.errors.contains("20011"), "\(refused.errors)")
        await daemon.stop()
    }

    @Test("takePhoto returns a resource that yields a JPEG of the camera's size")
    func takePhoto() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h264-aac.mp4")])
        try await eventually("the first picture") {
            try await stream(daemon, "front")["bitrate"] as? Int ?? 0 > 0
        }
        let taken = try await daemon.api.request(
            "POST", "/v1/devices/front/actions", body: #"{"path":"Action.takePhoto.ctlVal","value":1}"#)
        let value = try #require(
            taken.object["value"] as? [String: Any], "\(String(decoding: taken.body, as: UTF8.self))")
        let picture = try await daemon.api.request("GET", try #require(value["resource"] as? String))
        #expect(picture.status == 200)
        let file = daemon.folder.path("photo.jpg")
        try picture.body.write(to: URL(fileURLWithPath: file))
        let probed = try await Program.named(
            "ffprobe", ["-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0", file]
        ).run()
        #expect(probed.text.trimmingCharacters(in: .whitespacesAndNewlines) == "mjpeg,768,576")
        #expect(try await daemon.api.request("GET", "/v1/resources/photo-00.jpg").status == 404)
        await daemon.stop()
    }

    @Test("The constant properties contain the product and its version, as `--version` prints them")
    func constants() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h264-aac.mp4")])
        try await eventually("the versions") {
            try await daemon.api.read("front", "ProConst._versionInfo.swVer") as? Int ?? 0 > 0
        }
        let version = try await Program(path: Product.program("iotvideod"), arguments: ["--version"]).run().text
        let numbers = version.split(whereSeparator: { ". \n".contains($0) }).compactMap { Int($0) }
        #expect(
            try await daemon.api.read("front", "ProConst._versionInfo.swVer") as? Int
                == numbers.reduce(0) { $0 * 1_000 + $1 })
        #expect(try await daemon.api.read("front", "ProConst._productInfo.productModel") as? String == "file camera")
        await daemon.stop()
    }

    @Test("_logLevel makes one camera log more than the rest, until it is 0 again")
    func logLevel() async throws {
        let daemon = try await RunningDaemon(
            cameras: ["front": Product.sample("street-h264-aac.mp4")], configuration: "log: {level: error}\n")
        func set(_ level: String) async throws {
            let outcome = try await daemon.iotctl("property", "write", "front", "ProWritable._logLevel.setVal", level)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        try await set("4")
        try await eventually("the log lines about viewers") {
            _ = try await daemon.iotctl("monitor", "front", "--frames", "1")
            return daemon.log.contains("info camera.front: ") && daemon.log.contains("viewer left")
        }
        #expect(!daemon.log.contains("debug camera.front: "))
        try await set("5")
        try await eventually("the log lines about settings") {
            try await set("5")
            return daemon.log.contains("debug camera.front: ") && daemon.log.contains("setting applied")
        }
        try await set("0")
        // The camera applies its settings in order.
        _ = try await daemon.iotctl("action", "front", "Action.takePhoto.ctlVal", "1")
        try await eventually("silence") {
            let before = daemon.log
            _ = try await daemon.iotctl("monitor", "front", "--frames", "1")
            return daemon.log == before
        }
        #expect(!daemon.log.contains(" link: "), "nothing else has changed")
        await daemon.stop()
    }

    @Test("A user may lower the configured viewer limit, not raise it; without a setting the configuration applies")
    func maximumViewers() async throws {
        let path = "ProWritable.maximumViewers.setVal"
        func configuration(_ viewers: Int) -> String {
            "cameras:\n  - {name: front, url: \(Product.sample("street-h264-aac.mp4")), viewers: \(viewers)}\n"
        }
        func limit(_ daemon: RunningDaemon) async throws -> Int? {
            let list = try await daemon.api.request("GET", "/v1/cameras").object["cameras"] as? [[String: Any]]
            return list?.first?["viewerLimit"] as? Int
        }
        var daemon = try await RunningDaemon(configuration: configuration(3))
        try await eventually("the model") { try await daemon.api.read("front", path) as? Int == 3 }
        let refused = try await daemon.iotctl("property", "write", "front", path, "4")
        #expect(refused.errors.hasPrefix("error 20102 "), "\(refused.errors)")
        await daemon.stop()

        daemon = try await RunningDaemon(folder: daemon.folder, configuration: configuration(9))
        try await eventually("the new configuration") { try await daemon.api.read("front", path) as? Int == 9 }
        #expect(try await daemon.iotctl("property", "write", "front", path, "2").status == 0)
        try await eventually("the setting") { try await limit(daemon) == 2 }
        await daemon.stop()

        daemon = try await RunningDaemon(folder: daemon.folder, configuration: configuration(5))
        try await eventually("the setting after a restart") { try await limit(daemon) == 2 }
        let source = try await daemon.iotctl("monitor", "front", "--source", "2")
        #expect(source.status == 1 && source.errors.contains("no source 2"), "\(source.errors)")
        await daemon.stop()
    }
}
