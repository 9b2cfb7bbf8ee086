import IoTCore
import IoTLink
import ThingModel

/// The thing model of a camera.
enum CameraSchema {
    /// Names of properties.
    enum Name {
        static let signingKey = CameraProperty.signingKey
        static let keySuccession = CameraProperty.keySuccession
        static let firmware = CameraProperty.firmware
        static let video = "videoStream"
        static let audio = "audioStream"
        static let viewers = "viewers"
        static let talkers = "talkers"
        static let liveCalls = "liveCalls"
        static let source = CameraProperty.source
        static let sources = "sources"
        static let sourceFailure = CameraProperty.sourceFailure
        static let cameraOn = CameraProperty.cameraOn
        static let lan = CameraProperty.lan
        static let takePhoto = "takePhoto"
        static let acceptCall = "acceptCall"
        static let refuseCall = "refuseCall"
        static let maximumViewers = "maximumViewers"
        static let rotation = "rotation"
        static let recordPlan = "recordPlan"
        /// Built-in properties.
        static let logLevel = "_logLevel"
        static let newestVersion = "_otaVersion"
        static let upgrade = "_otaUpgrade"
        static let upgradeMode = "_otaMode"
    }

    /// Whether nobody wants to know later when a path changed: it is measured, or a built-in one.
    static func isUnremarkable(_ path: String) -> Bool {
        let name = path.drop { $0 != "." }.dropFirst()
        return name.hasPrefix("_") || [Name.video, Name.audio, Name.lan].contains(String(name))
            || PropertyClass(ofPath: path) == .constant
    }

    /// The revision of the list below and its date (2026-11-27), for `_productInfo`.
    private static let revision: (number: Int64, date: Int64) = (12, 1_795_737_600)

    /// - Parameter maximumViewers: the configured number; users may set a lower one.
    static func make(maximumViewers: Int) throws(IoTError) -> ThingSchema {
        let limit = max(1, Int32(clamping: maximumViewers))
        return try ThingSchema([
            .constant(
                Name.signingKey, .string(64),
                "the public key with which the camera signs: Ed25519, SubjectPublicKeyInfo"),
            .constant(
                Name.keySuccession, .string(KeySuccession.maximumSize),
                "the keys before it, each with its signature of the next one"),
            .constant(Name.sources, .int32, "how many cameras are behind the device: their sources are 0 and up"),
            .constant(
                Name.firmware,
                .structure("Firmware", [.init("model", .string(64)), .init("version", .string(32))]),
                "the model and version of what is upgraded, as releases of firmware name them"),
            .readonly(
                Name.video,
                .structure(
                    "VideoStream",
                    [
                        .init("codec", .string(8)), .init("width", .int32), .init("height", .int32),
                        .init("frameRate", .float32), .init("bitrate", .int32),
                    ]), "the picture as measured: pixels, frames a second, bits a second"),
            .readonly(
                Name.audio,
                .structure(
                    "AudioStream",
                    [
                        .init("codec", .string(8)), .init("sampleRate", .int32), .init("channels", .int32),
                        .init("bitrate", .int32),
                    ]), "the sound as measured: samples a second, bits a second"),
            .readonly(Name.viewers, .int32, "how many watch now"),
            .readonly(Name.talkers, .int32, "how many talk now: 0 or 1"),
            .readonly(
                Name.liveCalls, .string(8, allowed: ["none", "free", "ringing", "busy"]),
                "whether the camera takes live calls, and is in one"),
            .readonly(
                Name.source, .string(16, allowed: ["connecting", "ready", "failed"]),
                "what the camera's source is doing"),
            .readonly(
                Name.sourceFailure,
                .structure("SourceFailure", [.init("code", .int32), .init("reason", .string(256))]),
                "why the source failed: an error's number and meaning; 0 when it did not fail"),
            .readonly(
                Name.lan, .structure("LANPlace", [.init("port", .int32), .init("addresses", .string(512))]),
                "where the camera is reached on its own network without the hub; port 0 if it is not"),
            .action(Name.cameraOn, .int32(0...1, default: 1), "1 streams; 0 sends no packet to anybody"),
            .action(Name.takePhoto, .int32, "takes a picture; answers with the resource that yields the JPEG"),
            .action(
                Name.acceptCall, .string(64), "accepts the live call with this id that rings; empty: any that rings"),
            .action(
                Name.refuseCall, .string(64), "refuses the live call with this id that rings; empty: any that rings"),
            .writable(
                Name.maximumViewers, .int32(1...limit, default: limit), "how many may watch at once"),
            .writable(
                Name.rotation,
                ValueSchema(
                    .int32, allowed: PictureRotation.allCases.map { .integer(Int64($0.rawValue)) },
                    // As for the rotation of a channel.
                    refusal: .invalidParameter),
                "how far pictures are turned, anti-clockwise, in degrees"),
            .writable(
                Name.recordPlan,
                .structure(
                    "RecordPlan",
                    (1...RecordPlan.sections).map {
                        .init(RecordPlan.name(of: $0), recordSection, isOptional: $0 > 1)
                    }), "when the camera is recorded, if a section is enabled"),
        ])
    }

    private static let recordSection = ValueSchema.structure(
        "RecordSection",
        [
            .init("desc", .string(64), description: "a note"), .init("enable", .int32(0...1)),
            .init("dayOfWeek", .int32(0...Int32(RecordPlan.everyDay)), description: "bit 0 is Monday; 0: each day"),
            .init("begin", .int32(0...Int32(RecordPlan.latestBegin)), description: "minutes since midnight"),
            .init(
                "end", .int32(0...Int32(RecordPlan.latestEnd)),
                description: "the same; on the next day, if it is not after the begin"),
        ])

    /// The values that never change while the camera runs, by path.
    static func constants(
        _ kind: CameraSourceKind, sources: Int, softwareVersion: UInt32, key: DeviceKey?
    ) -> [String: JSONValue] {
        let version = JSONValue.integer(Int64(softwareVersion))
        let model: JSONValue =
            switch kind {
            case .rtsp: "RTSP camera"
            case .file: "file camera"
            case .v4l2: "V4L2 camera"
            }
        return [
            "ProConst._productInfo": [
                "productModel": model, "productID": "iotvideod",
                "funcCode": 0, "revision": .integer(revision.number), "revisionUtc": .integer(revision.date),
            ],
            // The camera's hardware is unknown.
            "ProConst._versionInfo": ["sdkVer": version, "swVer": version, "hwVer": 0],
            "ProConst.\(Name.sources)": .integer(Int64(sources)),
            "ProConst.\(Name.signingKey)": .string(key?.publicKey.text ?? ""),
            "ProConst.\(Name.keySuccession)": .string(key?.succession.text ?? ""),
            "ProConst.\(Name.firmware)": [
                "model": .string(BoxModel.name), "version": .string(versionText(softwareVersion)),
            ],
        ]
    }

    /// `0.1.0` for 1000.
    private static func versionText(_ number: UInt32) -> String {
        "\(number / 1_000_000).\(number / 1_000 % 1_000).\(number % 1_000)"
    }
}

extension CameraMeasurement {
    var videoValue: JSONValue? {
        guard let video else { return nil }
        return [
            "codec": .string(video.codec.rawValue), "width": .integer(Int64(video.width)),
            "height": .integer(Int64(video.height)), "frameRate": .number((video.frameRate * 100).rounded() / 100),
            "bitrate": .integer(Int64(video.bitrate)),
        ]
    }

    var audioValue: JSONValue? {
        guard let audio else { return nil }
        return [
            "codec": .string(audio.codec.rawValue), "sampleRate": .integer(Int64(audio.sampleRate)),
            "channels": .integer(Int64(audio.channels)), "bitrate": .integer(Int64(audio.bitrate)),
        ]
    }

    /// True if the kind of stream or the frame rate changed, or if a bitrate was measured for the first time.
    func isOtherKind(than other: CameraMeasurement) -> Bool {
        guard (video == nil) == (other.video == nil), (audio == nil) == (other.audio == nil) else { return true }
        if let new = video, let old = other.video {
            if (new.codec, new.width, new.height) != (old.codec, old.width, old.height) { return true }
            if moved(new.frameRate, old.frameRate) || (old.bitrate == 0 && new.bitrate > 0) { return true }
        }
        if let new = audio, let old = other.audio {
            if (new.codec, new.sampleRate, new.channels) != (old.codec, old.sampleRate, old.channels) { return true }
            if old.bitrate == 0, new.bitrate > 0 { return true }
        }
        return false
    }

    /// True if a bitrate changed noticeably. 0 means not measured yet.
    func hasOtherBitrate(than other: CameraMeasurement) -> Bool {
        let rates = [(video?.bitrate, other.video?.bitrate), (audio?.bitrate, other.audio?.bitrate)]
        return rates.contains { new, old in
            guard let new, let old, new > 0 else { return false }
            return moved(Double(new), Double(old))
        }
    }

    /// True for a change of more than 5 %.
    private func moved(_ new: Double, _ old: Double) -> Bool {
        abs(new - old) > 0.05 * max(abs(new), abs(old))
    }
}
