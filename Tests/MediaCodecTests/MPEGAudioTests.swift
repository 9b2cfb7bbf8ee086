import Foundation
import IoTCore
import NIOCore
import RTSP
import Testing

@testable import MediaCodec

/// Our own client reads MPEG audio from GStreamer's RTSP server, and it becomes AAC.
@Suite struct MPEGAudioTests {
    struct Sound: Sendable, CustomTestStringConvertible {
        var encoder: String
        var sampleRate: Int
        var channels: Int
        var bitRate: String

        var testDescription: String { "\(encoder) \(sampleRate) \(channels) \(bitRate)" }
    }

    private static let seconds = 2.5

    /// A file with pictures and a tone of 1 kHz.
    private func file(_ sound: Sound, in folder: TemporaryFolder) throws -> String {
        let file = folder.file("tone.mp4")
        try FFmpegTool.run([
            "-t", "\(Self.seconds)", "-i", Clips.h264, "-f", "lavfi", "-i",
            "sine=frequency=1000:sample_rate=\(sound.sampleRate):duration=\(Self.seconds)", "-map", "0:v", "-map",
            "1:a",
            "-c:v", "copy", "-c:a", sound.encoder, "-ac", "\(sound.channels)", "-b:a", sound.bitRate, file,
        ])
        return file
    }

    /// The frames that the client receives.
    private func received(_ file: String, _ transport: RTSPTransport) throws -> [MediaFrame] {
        let server = try RTSPServer(file: file)
        var configuration = RTSPClientConfiguration(
            url: try #require(ServiceURL(server.url)), credentials: nil, transport: transport)
        // At the end of the file, the server only stops sending.
        configuration.readTimeout = .seconds(2)
        let input = RTSPInput(configuration, eventLoop: nil)
        let tracks = try input.open()
        #expect(tracks.video?.codec == .h264 && tracks.audio == .mpeg && tracks.unsupported.isEmpty)
        var frames: [MediaFrame] = []
        while let frame = try? input.readFrame() {
            if frame.kind == .audio { frames.append(frame) }
        }
        return frames
    }

    @Test(
        "Each frame arrives unchanged, also several in a packet, and is heard as AAC at its time",
        arguments: [
            (Sound(encoder: "libmp3lame", sampleRate: 44_100, channels: 2, bitRate: "128k"), .tcp),
            (Sound(encoder: "libmp3lame", sampleRate: 16_000, channels: 1, bitRate: "32k"), .udp),
            // rtpmpapay of GStreamer 1.22 crashes with frames that it must fragment.
            (Sound(encoder: "libmp3lame", sampleRate: 48_000, channels: 2, bitRate: "320k"), .tcp),
            (Sound(encoder: "mp2", sampleRate: 48_000, channels: 1, bitRate: "96k"), .tcp),
        ] as [(Sound, RTSPTransport)])
    func heard(sound: Sound, transport: RTSPTransport) throws {
        let folder = try TemporaryFolder()
        let file = try file(sound, in: folder)
        let raw = folder.file("raw." + (sound.encoder == "mp2" ? "mp2" : "mp3"))
        var options = ["-i", file, "-map", "0:a", "-c", "copy"]
        if sound.encoder != "mp2" { options += ["-write_xing", "0", "-id3v2_version", "0"] }
        try FFmpegTool.run(options + [raw])
        let expected = try Data(contentsOf: URL(fileURLWithPath: raw))

        let frames = try received(file, transport)
        let bytes = frames.reduce(into: Data()) { $0 += $1.bytes.readableBytesView }
        // The server may omit the first audio frames of the file.
        #expect(expected.range(of: bytes) != nil && bytes.count * 10 > expected.count * 8)

        let transcoder = try MPEGAudioTranscoder()
        #expect(transcoder.parameters.sampleRate == 48_000 && transcoder.parameters.channels == 2)
        let units = try frames.flatMap { try transcoder.transcode($0) }
        #expect(zip(units, units.dropFirst()).allSatisfy { abs($1.pts - $0.pts - 21_333) <= 1 })
        let first = try #require(units.first)
        let last = try #require(units.last)
        #expect(abs(first.pts - frames[0].pts) < 50_000)
        #expect(abs(last.pts - frames[frames.count - 1].pts) < 100_000)
        #expect(!units.contains { $0.isDiscontinuity })
        try expectTone(units, transcoder.parameters)
    }

    /// Expects that almost all of the sound is the tone of 1 kHz, in both channels.
    private func expectTone(_ units: [MediaFrame], _ parameters: AudioParameters) throws {
        let decoder = try AudioDecoder(parameters)
        var samples: [Int16] = []
        for unit in units {
            for buffer in try decoder.decode(unit) {
                samples += buffer.samples.withUnsafeReadableBytes { Array($0.bindMemory(to: Int16.self)) }
            }
        }
        for channel in 0..<2 {
            // A second of sound, not its beginning.
            let part = stride(from: 48_000 + channel, to: 48_000 + 2 * 48_000, by: 2).map { Double(samples[$0]) }
            let (real, imaginary, power) = part.enumerated().reduce((0.0, 0.0, 0.0)) { sums, sample in
                let angle = 2 * Double.pi * 1_000 * Double(sample.offset) / 48_000
                let value = sample.element
                return (sums.0 + value * cos(angle), sums.1 + value * sin(angle), sums.2 + value * value)
            }
            let tone = 2 * (real * real + imaginary * imaginary) / Double(part.count)
            #expect(power / Double(part.count) > 10_000 && tone > 0.9 * power, "\(tone / power)")
        }
    }

    @Test("A jump of the clock is reported with the next access unit, and a damaged frame leaves a gap")
    func discontinuity() throws {
        let folder = try TemporaryFolder()
        let sound = Sound(encoder: "libmp3lame", sampleRate: 44_100, channels: 2, bitRate: "128k")
        var frames = try received(try file(sound, in: folder), .tcp)
        try #require(frames.count > 60)
        for index in 40..<frames.count {
            frames[index].pts += 20_000_000
            frames[index].isDiscontinuity = index == 40
        }
        frames[50].bytes.setInteger(UInt32(0), at: frames[50].bytes.readerIndex)
        let transcoder = try MPEGAudioTranscoder()
        let units = try frames.flatMap { try transcoder.transcode($0) }
        let jumps = units.indices.filter { units[$0].isDiscontinuity }
        try #require(jumps.count == 1)
        let jump = jumps[0]
        #expect(units[jump].pts - units[jump - 1].pts > 19_900_000)
        #expect(abs(units[units.count - 1].pts - frames[frames.count - 1].pts) < 100_000)
    }
}
