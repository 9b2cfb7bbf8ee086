import Foundation
package import IoTCore
import MediaCodec

/// The frames of a clip in `Samples`, timed like those of a live source.
package struct SampleClip {
    package let frames: [MediaFrame]
    package let video: VideoParameters
    package let audio: AudioParameters
    package let pictures: Int

    /// Only the pictures, with times multiplied by `stretch`. Only the first `keyFrames` key frames stay marked as key
    /// frames.
    package init(picturesOf clip: SampleClip, stretch: Int64, keyFrames: Int) {
        var left = keyFrames
        frames = clip.frames.filter { $0.kind == .video }.map { frame in
            var frame = frame
            frame.pts *= stretch
            frame.dts *= stretch
            if frame.isKeyFrame {
                frame.isKeyFrame = left > 0
                left -= 1
            }
            return frame
        }
        video = clip.video
        audio = clip.audio
        pictures = clip.pictures
    }

    /// Repeats a sample `rounds` times on one clock without gaps.
    package init(_ name: String, rounds: Int) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let demuxer = try MediaDemuxer(
            url: root.appendingPathComponent("Samples/\(name)").path, options: DemuxerOptions(),
            cancellation: DemuxerCancellation())
        var one: [MediaFrame] = []
        while let frame = try demuxer.readFrame() { one.append(frame) }
        let start = one.map(\.pts).min() ?? 0
        let pictures = one.filter { $0.kind == .video }
        let length = (pictures.map(\.pts).max() ?? 0) - start + 40_000
        one.removeAll { $0.pts - start >= length }
        var frames: [MediaFrame] = []
        for round in 0..<rounds {
            for var frame in one {
                frame.pts += Int64(round) * length - start
                frame.dts += Int64(round) * length - start
                frame.isDiscontinuity = false
                frames.append(frame)
            }
        }
        self.frames = frames.sorted { $0.dts < $1.dts }
        guard let video = demuxer.video, let audio = demuxer.audio else {
            throw IoTError(.sourceUnsupported, "\(name) lacks a track")
        }
        self.video = video
        self.audio = audio
        self.pictures = pictures.count * rounds
    }
}
