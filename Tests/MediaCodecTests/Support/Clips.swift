import Foundation

/// The checked-in clips.
enum Clips {
    static let h264 = sample("street-h264-aac.mp4")
    static let h265 = sample("street-h265-aac.mp4")
    static let bFrames = sample("street-h264-bframes-pcma.mkv")
    static let surround = sample("bunny-h264-aac51.mp4")
    static let highEfficiency = sample("noise-he-aac.m4a")
    static let highEfficiencyStereo = sample("noise-he-aac-v2.m4a")
    static let sizeChange = sample("street-h264-size-change.ts")
    static let speech = sample("speech.flac")
    static let all = [h264, h265, bFrames, surround]

    static func sample(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Samples/\(name)")
            .standardizedFileURL.path
    }

    static var supportFolder: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
    }
}

/// A folder that is deleted after the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory.appendingPathComponent("MediaCodecTests-\(UUID().uuidString)")
            .path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { path + "/" + name }
}
