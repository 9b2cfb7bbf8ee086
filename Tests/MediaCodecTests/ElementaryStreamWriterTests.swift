import Foundation
import IoTCore
import NIOCore
import Testing

@testable import MediaCodec

@Suite struct ElementaryStreamWriterTests {
    private struct Clip {
        let video: VideoParameters
        let audio: AudioParameters
        var frames: [MediaFrame] = []

        init(_ name: String) throws {
            let demuxer = try MediaDemuxer(
                url: Clips.sample(name), options: DemuxerOptions(), cancellation: DemuxerCancellation())
            video = try #require(demuxer.video)
            audio = try #require(demuxer.audio)
            while let frame = try demuxer.readFrame() { frames.append(frame) }
        }
    }

    private func write(_ frames: [MediaFrame], _ track: TrackParameters, _ name: String) throws -> (
        TemporaryFolder, file: String
    ) {
        var writer = try ElementaryStreamWriter(track)
        let folder = try TemporaryFolder()
        let file = folder.file(name)
        var data = Data()
        for frame in frames where frame.kind == track.kind {
            data.append(contentsOf: writer.write(frame).readableBytesView)
        }
        try data.write(to: URL(fileURLWithPath: file))
        return (folder, file)
    }

    @Test("ffmpeg decodes the same pictures from Annex B", arguments: ["street-h264-aac.mp4", "street-h265-aac.mp4"])
    func pictures(name: String) throws {
        let clip = try Clip(name)
        let (folder, file) = try write(
            clip.frames, .video(clip.video), "video.\(clip.video.codec.rawValue)")
        defer { withExtendedLifetime(folder) {} }
        #expect(try FFmpegTool.rawVideo(file) == FFmpegTool.rawVideo(Clips.sample(name)))
    }

    @Test(
        "ffmpeg decodes the same sound from ADTS and from WAV with G.711",
        arguments: [
            ("street-h264-aac.mp4", "audio.adts"), ("bunny-h264-aac51.mp4", "audio.adts"),
            ("street-h264-bframes-pcma.mkv", "audio.wav"),
        ])
    func sounds(name: String, file: String) throws {
        let clip = try Clip(name)
        let (folder, file) = try write(clip.frames, .audio(clip.audio), file)
        defer { withExtendedLifetime(folder) {} }
        let (written, source) = (try FFmpegTool.rawAudio(file), try FFmpegTool.rawAudio(Clips.sample(name)))
        // An edit list of the clip may cut its first and last samples.
        #expect(source.count > 16_000 && written.range(of: source.dropFirst(8192).prefix(200_000)) != nil)
    }

    @Test("ffmpeg reads every packet of Opus in Ogg")
    func opus() throws {
        let clip = try Clip("street-h264-aac.mp4")
        let transcoder = try OpusTranscoder(clip.audio)
        let packets = try clip.frames.filter { $0.kind == .audio }.flatMap { try transcoder.transcode($0) }
        let (folder, file) = try write(
            packets, .audio(AudioParameters(codec: .opus, sampleRate: 48_000, channels: 2)), "audio.opus")
        defer { withExtendedLifetime(folder) {} }
        // 20 ms of 48 kHz stereo, 16 bits.
        #expect(packets.count > 100)
        #expect(try FFmpegTool.rawAudio(file).count == packets.count * 960 * 4)
    }

    @Test("AAC with channels of its own is refused, because ADTS cannot describe it")
    func refused() {
        let audio = AudioParameters(codec: .aac, sampleRate: 48_000, channels: 2, audioSpecificConfig: [])
        #expect(throws: Never.self) { try ElementaryStreamWriter(.audio(clipLike(audio, [0x11, 0x90]))) }
        for config in [[], [0x11], [0x11, 0x80], [0x2B, 0x90], [0x17, 0x90]] as [[UInt8]] {
            #expect(throws: IoTError.self) { try ElementaryStreamWriter(.audio(clipLike(audio, config))) }
        }
    }

    private func clipLike(_ audio: AudioParameters, _ config: [UInt8]) -> AudioParameters {
        var audio = audio
        audio.audioSpecificConfig = config
        return audio
    }
}
