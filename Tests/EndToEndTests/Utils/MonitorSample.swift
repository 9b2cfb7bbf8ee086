import Testing

/// A clip, and the media that a viewer must get from it.
struct MonitorSample: Sendable, CustomTestStringConvertible {
    let file: String
    let frames: Int
    /// The duration of a picture and of a coded frame of sound, s; a recording has AAC, with 1,024 samples a frame.
    let pictureTime: Double
    let soundTime: Double
    let channels: Int
    /// AAC is recorded unchanged; G.711 is converted to AAC.
    var copiesSound = true
    /// Pictures that a recording may contain beyond the requested ones, to complete a group of B-frames.
    var reordered = 0

    var testDescription: String { file }

    var path: String { Product.sample(file) }

    static let all = [
        MonitorSample(
            file: "street-h264-aac.mp4", frames: 200, pictureTime: 0.1, soundTime: 1_024 / 16_000, channels: 1),
        MonitorSample(
            file: "street-h265-aac.mp4", frames: 80, pictureTime: 0.1, soundTime: 1_024 / 16_000, channels: 1),
        MonitorSample(
            file: "street-h264-bframes-pcma.mkv", frames: 82, pictureTime: 0.1, soundTime: 1_024 / 8_000, channels: 1,
            copiesSound: false, reordered: 3),
        MonitorSample(
            file: "bunny-h264-aac51.mp4", frames: 132, pictureTime: 0.04, soundTime: 1_024 / 48_000, channels: 6),
    ]
}
