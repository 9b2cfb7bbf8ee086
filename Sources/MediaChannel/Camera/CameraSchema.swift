import IoTCore
import ThingModel

/// The thing model of a camera.
enum CameraSchema {
    /// `ProReadonly` names.
    enum Name {
        static let video = "videoStream"
        static let audio = "audioStream"
        static let viewers = "viewers"
        static let source = "source"
        static let cameraOn = "cameraOn"
        static let takePhoto = "takePhoto"
        static let maximumViewers = "maximumViewers"
    }

    static func make(maximumViewers: Int) throws(IoTError) -> ThingSchema {
        try ThingSchema([
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
            .readonly(
                Name.source, .string(16, allowed: ["connecting", "ready", "failed"]),
                "what the camera's source is doing"),
            .action(Name.cameraOn, .int32(0...1, default: 1), "1 streams; 0 sends no packet to anybody"),
            .action(Name.takePhoto, .int32, "takes a picture; answers with the resource that yields the JPEG"),
            .writable(
                Name.maximumViewers, .int32(1...10_000, default: Int32(clamping: maximumViewers)),
                "how many may watch at once"),
        ])
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

    /// True when a reader of the model would see a difference: another format, or a rate that moved by over 5 %.
    func differsNoticeably(from other: CameraMeasurement) -> Bool {
        func moved(_ new: Double, _ old: Double) -> Bool {
            abs(new - old) > 0.05 * max(abs(new), abs(old))
        }
        switch (video, other.video) {
        case (let new?, let old?):
            if (new.codec, new.width, new.height) != (old.codec, old.width, old.height) { return true }
            if moved(new.frameRate, old.frameRate) || moved(Double(new.bitrate), Double(old.bitrate)) { return true }
        case (nil, nil): break
        default: return true
        }
        switch (audio, other.audio) {
        case (let new?, let old?):
            if (new.codec, new.sampleRate, new.channels) != (old.codec, old.sampleRate, old.channels) { return true }
            return moved(Double(new.bitrate), Double(old.bitrate))
        case (nil, nil): return false
        default: return true
        }
    }
}
