import Foundation
import Testing

/// V4L2 cameras with a real daemon, on capture devices that a preloaded library simulates.
@Suite(.serialized, .timeLimit(.minutes(5))) struct V4L2CameraTests {
    private static let size = (width: 320, height: 240)

    /// The next pictures of a camera: the planes of each.
    private static func watch(_ daemon: RunningDaemon, _ camera: String, frames: Int) async throws -> [[UInt8]] {
        let folder = try TemporaryFolder()
        let video = folder.path("v.y4m")
        let outcome = try await daemon.iotctl("monitor", camera, "--frames", "\(frames)", "--raw-video", video)
        try #require(outcome.status == 0, "\(camera): \(outcome.errors)\n\(daemon.log)")
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: video)))
        let header = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
        let line = String(decoding: bytes[..<header], as: UTF8.self)
        try #require(line.contains(" W\(size.width) H\(size.height) "), "\(line)")
        let frame = size.width * size.height * 3 / 2
        let marker = "FRAME\n".utf8.count
        return stride(from: header + 1, to: bytes.count, by: frame + marker).map {
            Array(bytes[($0 + marker)..<min($0 + marker + frame, bytes.count)])
        }
    }

    @Test("Raw pictures of every format arrive with the right colours and movement, and without the rows' padding")
    func raw() async throws {
        let devices = try await FakeDevices()
        let formats = ["YUYV", "UYVY", "NV12", "YU12"]
        for format in formats { try devices.plug("video-\(format)", "formats \(format)", "sizes 640x480 320x240") }
        let items = formats.map { "  - {name: \($0), url: 'v4l2:/dev/video-\($0)', pictureSize: 320x240}" }
        let daemon = try await RunningDaemon(
            configuration: (["cameras:"] + items).joined(separator: "\n"), prefix: devices.prefix)
        for format in formats {
            let frames = try await Self.watch(daemon, format, frames: 20)
            #expect(frames.count == 20)
            let (luma, chroma) = (Self.size.width * Self.size.height, Self.size.width * Self.size.height / 4)
            var bars: Set<Int> = []
            for frame in frames {
                // The bar has 16 rows of luma 235.
                let rows = (0..<Self.size.height).filter { frame[$0 * Self.size.width + 10] > 180 }
                bars.formUnion(rows.prefix(1))
                #expect((12...20).contains(rows.count), "\(format): \(rows)")
                let row = try #require((0..<Self.size.height).first { !rows.contains($0) && !rows.contains($0 + 4) })
                for (place, expected) in [
                    (row * Self.size.width + 40, 60), (row * Self.size.width + 280, 200),
                    (luma + chroma / 2, 90), (luma + chroma + chroma / 2, 170),
                ] {
                    #expect(abs(Int(frame[place]) - expected) <= 8, "\(format) at \(place): \(frame[place])")
                }
            }
            #expect(bars.count >= 10, "\(format): \(bars)")
        }
        let list = try await daemon.iotctl("camera", "show", "NV12")
        #expect(list.text.contains("320x240"), "\(list.text)")
        #expect(await daemon.stop() == 0)
    }

    @Test(
        "The H.264 or H.265 of a device arrives unchanged",
        arguments: [
            ("H264", "street-h264-aac.mp4", "h264_mp4toannexb,h264_metadata=aud=insert", [0, 0, 0, 1, 9] as [UInt8]),
            ("HEVC", "street-h265-aac.mp4", "hevc_mp4toannexb,hevc_metadata=aud=insert", [0, 0, 0, 1, 70, 1]),
        ])
    func coded(format: String, sample: String, filter: String, mark: [UInt8]) async throws {
        let devices = try await FakeDevices()
        let payload = try await devices.payload(
            sample, ["-c", "copy", "-bsf:v", filter, "-f", format == "H264" ? "h264" : "hevc"], before: mark)
        // The device also offers raw pictures.
        try devices.plug("video0", "formats YUYV \(format)", "sizes 768x576", "rate 10", "payload \(payload)")
        let daemon = try await RunningDaemon(cameras: ["desk": "v4l2:/dev/video0"], prefix: devices.prefix)
        let folder = try TemporaryFolder()
        let video = folder.path("v.y4m")
        let outcome = try await daemon.iotctl("monitor", "desk", "--frames", "40", "--raw-video", video)
        try #require(outcome.status == 0, "\(outcome.errors)\n\(daemon.log)")
        let shown = try await FrameDigests.of(video)
        let source = try await FrameDigests.of(Product.sample(sample))
        #expect(shown.count == 40 && FrameDigests.position(of: shown, inRepeated: source) != nil)
        await daemon.stop()
    }

    @Test("A device's JPEG pictures are shown, and damaged ones are dropped and counted")
    func jpeg() async throws {
        let devices = try await FakeDevices()
        let sample = "street-h264-aac.mp4"
        let payload = try await devices.payload(
            sample, ["-vf", "scale=320:240", "-q:v", "2", "-c:v", "mjpeg", "-f", "image2pipe"],
            before: [0xFF, 0xD8, 0xFF])
        let lines = ["formats YUYV MJPG", "sizes 320x240", "rate 10", "payload \(payload)"].joined(separator: "\n")
        try devices.plug("video0", lines)
        let daemon = try await RunningDaemon(cameras: ["desk": "v4l2:/dev/video0"], prefix: devices.prefix)
        let folder = try TemporaryFolder()
        let small = folder.path("small.mkv")
        let made = try await Program.named(
            "ffmpeg",
            ["-v", "error", "-i", Product.sample(sample), "-an", "-vf", "scale=320:240", "-c:v", "ffv1", small]
        ).run()
        try #require(made.status == 0, "\(made.errors)")
        func isShown() async throws {
            let picture = folder.path("s.jpg")
            let taken = try await daemon.iotctl("snapshot", "desk", picture)
            try #require(taken.status == 0, "\(taken.errors)")
            let likeness = try await Likeness.of(picture, toFramesOf: small).max() ?? 0
            #expect(likeness > 26, "\(likeness) dB")
        }
        try await isShown()
        let before = try await Self.dropped(daemon)
        try devices.plug("video0", lines, "fault flaky")
        try await eventually("damaged pictures") { try await Self.dropped(daemon) > before + 5 }
        try await isShown()
        #expect(try await daemon.camera("desk")?["state"] as? String == "ready")
        // The camera fails if all pictures are damaged.
        try devices.plug("video0", lines, "fault corrupt")
        try await eventually("the failure", within: .seconds(40)) {
            let reason = try await daemon.camera("desk")?["reason"] as? [String: Any]
            return (reason?["message"] as? String)?.contains("only damaged pictures") == true
        }
        try devices.plug("video0", lines)
        try await eventually("the camera", within: .seconds(60)) {
            try await daemon.camera("desk")?["state"] as? String == "ready"
        }
        try await isShown()
        await daemon.stop()
    }

    private static func dropped(_ daemon: RunningDaemon) async throws -> Int {
        let text = String(decoding: try await daemon.api.request("GET", "/metrics").body, as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("iotvideod_source_dropped_pictures_total ") }
        return try #require(line.flatMap { Double($0.split(separator: " ")[1]) }.map { Int($0) }, "\(text)")
    }

    @Test("A device with 1,000 pictures per second is limited to the frame rate, and dropped pictures are counted")
    func tooFast() async throws {
        let devices = try await FakeDevices()
        try devices.plug("video0", "formats NV12", "sizes 320x240", "fixed 1000")
        let daemon = try await RunningDaemon(cameras: ["desk": "v4l2:/dev/video0"], prefix: devices.prefix)
        let folder = try TemporaryFolder()
        let file = folder.path("r.mp4")
        let outcome = try await daemon.iotctl("monitor", "desk", "--frames", "90", "--record", file)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let duration = try await Program.named(
            "ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file]
        ).run()
        // From the pictures' times, so a slow machine can only increase it.
        let seconds = try #require(Double(duration.text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(seconds > 90 / 40.0, "\(seconds)")
        #expect(try await Self.dropped(daemon) > 1_000)
        await daemon.stop()
    }

    @Test("A camera that was disconnected or failed reports it and recovers, and its viewer stays connected")
    func unplugged() async throws {
        let devices = try await FakeDevices()
        let lines = "formats YUYV\nsizes 320x240"
        try devices.plug("video0", lines)
        try devices.plug("usb-Test_Camera-video-index0", lines)
        let cameras = ["desk": "v4l2:/dev/video0", "door": "v4l2:/dev/v4l/by-id/usb-Test_Camera-video-index0"]
        let daemon = try await RunningDaemon(cameras: cameras, prefix: devices.prefix)
        async let watched = daemon.iotctl("monitor", "desk", "--frames", "150", "--json")
        try await eventually("a viewer") { try await daemon.camera("desk")?["viewers"] as? Int == 1 }
        func state(_ camera: String, _ state: String, code: Int?) async throws {
            try await eventually("\(camera) \(state) \(code ?? 0)", within: .seconds(60)) {
                let now = try await daemon.camera(camera)
                let reason = now?["reason"] as? [String: Any]
                return now?["state"] as? String == state && reason?["code"] as? Int == code
            }
        }
        for camera in cameras.keys { try await state(camera, "ready", code: nil) }
        // One device is removed, and later its node; the other device's transfers fail.
        try devices.plug("video0", lines, "fault gone")
        try devices.plug("usb-Test_Camera-video-index0", lines, "fault eio")
        try await state("desk", "failed", code: 25010)
        try await state("door", "failed", code: 25010)
        try devices.unplug("video0")
        try await state("desk", "failed", code: 25042)
        try devices.plug("video0", lines)
        try devices.plug("usb-Test_Camera-video-index0", lines)
        for camera in cameras.keys { try await state(camera, "ready", code: nil) }
        let outcome = try await watched
        #expect(outcome.status == 0, "\(outcome.errors)")
        let log = daemon.log.split(separator: "\n")
        #expect(log.count { $0.contains("camera source is back") } == 2, "\(daemon.log)")
        let events = try await daemon.iotctl("event", "list", "--device", "desk")
        #expect(events.text.contains("EVENT_CAM/SourceLost"), "\(events)")
        #expect(await daemon.stop() == 0)
    }

    @Test("Each failure has its error code and remedy")
    func failures() async throws {
        let devices = try await FakeDevices()
        let quick = [
            ("denied", "25046 sourceForbidden", "`video`"), ("notv4l", "25011 sourceUnsupported", "-video-index0"),
            ("metadata", "25011 sourceUnsupported", "no single-planar video capture"),
            ("busy", "25045 sourceBusy", "fuser -v"),
            ("gone", "25010 sourceUnreachable", "No such device"),
            ("eio", "25010 sourceUnreachable", "Input/output error"),
            ("otherformat", "25011 sourceUnsupported", "it stays at GREY"),
            ("missing", "25042 sourceNotFound", "there is no device /dev/video-missing"),
        ]
        let slow = [
            ("silent", "sent no picture"), ("short", "only damaged pictures"), ("flagged", "only damaged pictures"),
            ("overlong", "only damaged pictures"),
        ]
        for fault in quick.map(\.0) + slow.map(\.0) + ["unstamped"] where fault != "missing" {
            try devices.plug("video-\(fault)", "formats YUYV", "sizes 320x240", "fault \(fault)")
        }
        try devices.plug("video-bayer", "formats BA81 GREY", "sizes 320x240")
        let daemon = try await RunningDaemon(
            cameras: Dictionary(
                uniqueKeysWithValues: (slow.map(\.0) + ["unstamped"]).map { ($0, "v4l2:/dev/video-\($0)") }),
            prefix: devices.prefix)
        for (fault, code, words) in quick + [("bayer", "25011 sourceUnsupported", "it has BA81, GREY")] {
            for command in [["camera", "test"], ["camera", "add", "x", "--check"]] {
                let failed = try await daemon.iotctl(command + ["v4l2:/dev/video-\(fault)"])
                #expect(failed.status == 1 && failed.errors.hasPrefix("error \(code): "), "\(failed)")
                #expect(failed.errors.contains(words), "\(failed)")
            }
        }
        // A device with stamps of an unknown clock works.
        #expect(try await Self.watch(daemon, "unstamped", frames: 5).count == 5)
        let busy = try await daemon.iotctl("camera", "test", "v4l2:/dev/video-unstamped")
        #expect(busy.errors.hasPrefix("error 25045 sourceBusy: "), "\(busy)")
        for (camera, words) in slow {
            try await eventually("the failure of \(camera)", within: .seconds(40)) {
                let reason = try await daemon.camera(camera)?["reason"] as? [String: Any]
                return reason?["code"] as? Int == 25010 && (reason?["message"] as? String)?.contains(words) == true
            }
        }
        #expect(await daemon.stop() == 0)
    }

    @Test("camera add, camera test and camera set accept a device and its settings, and refuse a path without v4l2:")
    func commands() async throws {
        let devices = try await FakeDevices()
        try devices.plug("video0", "formats YUYV", "sizes 640x480 320x240", "rate 60")
        let daemon = try await RunningDaemon(prefix: devices.prefix)
        let url = "v4l2:/dev/video0"
        let tested = try await daemon.iotctl(
            "camera", "test", url, "--picture-size", "320x240", "--frame-rate", "20")
        #expect(tested.status == 0 && tested.text.contains("video: h264 320x240 "), "\(tested)")
        #expect(tested.text.contains("a key frame every ") && tested.text.contains("no B-frames"), "\(tested)")
        let added = try await daemon.iotctl("camera", "add", "desk", url)
        #expect(added.status == 0 && added.text.contains("desk is ready: h264 640x480"), "\(added)")
        let changed = try await daemon.iotctl("camera", "set", "desk", "--picture-size", "320x240")
        #expect(changed.status == 0 && changed.text.contains("h264 320x240"), "\(changed)")
        #expect(try await daemon.camera("desk")?["pictureSize"] as? String == "320x240")
        let path = try await daemon.iotctl("camera", "test", "/dev/video0")
        #expect(path.status != 0 && path.errors.contains("v4l2:/dev/video0"), "\(path)")
        let mixed = try await daemon.iotctl("camera", "add", "y", url, "--transport", "udp")
        #expect(mixed.status != 0 && mixed.errors.contains("is for rtsp:// only"), "\(mixed)")
        await daemon.stop()
    }
}
