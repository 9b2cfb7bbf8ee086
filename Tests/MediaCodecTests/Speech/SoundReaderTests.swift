import Foundation
import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import MediaCodec

@Suite struct SoundReaderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// File names, and how ffmpeg makes them.
    private static let containers: [(name: String, options: [String])] = [
        ("speech.wav", []), ("stereo.wav", ["-ac", "2", "-ar", "44100", "-c:a", "pcm_s24le"]),
        ("telephone.wav", ["-ar", "8000", "-c:a", "pcm_alaw"]), ("speech.flac", []), ("opus.ogg", ["-c:a", "libopus"]),
        ("vorbis.ogg", ["-c:a", "libvorbis"]), ("speech.mp3", ["-c:a", "libmp3lame"]), ("speech.aac", ["-c:a", "aac"]),
        ("speech.mp4", ["-c:a", "aac", "-movflags", "+faststart"]), ("speech.mkv", ["-c:a", "libopus"]),
    ]

    private func readAll(_ input: SoundReader.Input) throws -> [Int16] {
        let reader = try SoundReader(input)
        var sound: [Int16] = []
        while let samples = try reader.read() {
            #expect(!samples.isEmpty)
            sound += samples
        }
        return sound
    }

    private func channel(_ bytes: Data) async -> ByteChannel {
        let channel = ByteChannel(limit: .max)
        #expect(await channel.write(ByteBuffer(bytes: bytes)))
        channel.finish()
        return channel
    }

    private func similarity(_ a: [Int16], _ b: [Int16]) -> Double {
        var (product, first, second) = (0.0, 0.0, 0.0)
        for index in stride(from: 0, to: min(a.count, b.count), by: 3) {
            let (x, y) = (Double(a[index]), Double(b[index]))
            product += x * y
            first += x * x
            second += y * y
        }
        return product / max(1, (first * second).squareRoot())
    }

    @Test("Every container and codec becomes the samples that ffmpeg decodes, from a file and from a stream")
    func containers() async throws {
        for container in Self.containers {
            let path = folder.file(container.name)
            try FFmpegTool.run(["-i", Clips.speech] + container.options + [path])
            let reference = try FFmpegTool.run(["-i", path, "-ac", "1", "-ar", "48000", "-f", "s16le", "-"])
                .withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            for input in [SoundReader.Input.file(path), .channel(await channel(bytes))] {
                let sound = try readAll(input)
                #expect(
                    abs(sound.count - reference.count) < 2_400, "\(container.name): \(sound.count), \(reference.count)")
                let value = similarity(sound, reference)
                #expect(value > 0.99, "\(container.name): \(value)")
            }
        }
    }

    @Test("The sound of a pipe can be heard while it goes on, and ends when the pipe does", .timeLimit(.minutes(1)))
    func pipe() async throws {
        // As arecord pipes it: the sizes are not true.
        var writer = WAVWriter()
        var bytes = writer.header(sampleRate: 8_000, channels: 1)
        bytes.setInteger(UInt32(0x7FFF_FFFF), at: 40, endianness: .little)
        for index in 0..<4_000 { bytes.writeInteger(Int16(index % 100 * 100), endianness: .little) }
        let channel = ByteChannel()
        let source = SpeechFileSource(.channel(channel))
        #expect(await channel.write(bytes))
        var count = 0
        while count < 16_000, source.end == nil, !Task.isCancelled {
            count += source.take(960).count
            await Task.yield()
        }
        #expect(count >= 16_000, "of 24,000 samples")
        channel.finish()
        while source.end == nil, !Task.isCancelled {
            count += source.take(960).count
            await Task.yield()
        }
        guard case .finished? = source.end else {
            Issue.record("\(String(describing: source.end))")
            return
        }
        #expect(abs(count - 24_000) < 100, "\(count)")
    }

    @Test("A slow reader makes the writer wait; closing ends both at once", .timeLimit(.minutes(1)))
    func closing() async throws {
        var writer = WAVWriter()
        var bytes = writer.header(sampleRate: 48_000, channels: 1)
        bytes.writeRepeatingByte(0, count: 1_000_000)
        let channel = ByteChannel()
        let source = SpeechFileSource(.channel(channel))
        let whole = bytes
        let writing = Task { () -> Bool in
            var rest = whole
            while let part = rest.readSlice(length: min(10_000, rest.readableBytes)), part.readableBytes > 0 {
                guard await channel.write(part) else { return false }
            }
            return true
        }
        while source.take(1).isEmpty, !Task.isCancelled { await Task.yield() }
        // Half a second of samples and 74,000 bytes are much less than ten seconds.
        source.close()
        #expect(await writing.value == false)
        while source.end == nil, !Task.isCancelled {
            _ = source.take(96_000)
            await Task.yield()
        }
        #expect(await channel.write(ByteBuffer(bytes: [1])) == false)
    }

    @Test("A source that waits for a silent pipe ends when it is closed", .timeLimit(.minutes(1)))
    func silentPipe() async throws {
        let channel = ByteChannel()
        let source = SpeechFileSource(.channel(channel))
        source.close()
        while source.end == nil, !Task.isCancelled { await Task.yield() }
        #expect(channel.isClosed)
    }

    @Test("A writer that is cancelled does not wait any more", .timeLimit(.minutes(1)))
    func cancelledWriter() async {
        let channel = ByteChannel(limit: 1)
        let writing = Task { await channel.write(ByteBuffer(bytes: [1, 2, 3])) }
        writing.cancel()
        #expect(await writing.value)
    }

    @Test("What is not sound is refused with a number and a remedy")
    func refused() async throws {
        var generator = SeededGenerator(seed: 1)
        let video = folder.file("video.mp4")
        try FFmpegTool.run(["-i", Clips.h264, "-an", "-c", "copy", "-t", "1", video])
        let secret = folder.file("secret.wav")
        try FFmpegTool.run(["-i", Clips.speech, secret])
        let texts = [
            "", "hello", "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:\(secret)\n",
            "ffconcat version 1.0\nfile \(secret)\n",
        ]
        var inputs = texts.map { Data($0.utf8) }
        inputs.append(Data(generator.bytes(200_000)))
        inputs.append(try Data(contentsOf: URL(fileURLWithPath: video)))
        for bytes in inputs {
            let input = SoundReader.Input.channel(await channel(bytes))
            let error = try #require(throws: IoTError.self) { _ = try readAll(input) }
            #expect(error.code == .sourceUnsupported && error.remedy.contains("WAV"), "\(error)")
            let path = folder.file("other")
            try bytes.write(to: URL(fileURLWithPath: path))
            let fileError = try #require(throws: IoTError.self) { _ = try readAll(.file(path)) }
            #expect(fileError.code == .sourceUnsupported, "\(fileError)")
        }
        let absent = try #require(throws: IoTError.self) { _ = try readAll(.file(folder.file("absent"))) }
        #expect(absent.code == .sourceNotFound)
        let directory = try #require(throws: IoTError.self) { _ = try readAll(.file(folder.path)) }
        #expect(directory.code == .sourceUnreachable, "\(directory)")
    }

    @Test("Damaged files yield sound or an error")
    func damage() async throws {
        var generator = SeededGenerator(seed: 2)
        for container in Self.containers {
            let path = folder.file(container.name)
            try FFmpegTool.run(["-t", "2", "-i", Clips.speech] + container.options + [path])
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            for _ in 0..<10 {
                var damaged = bytes
                for _ in 0..<20 {
                    damaged[Int.random(in: 0..<damaged.count, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
                let input = SoundReader.Input.channel(await channel(damaged))
                _ = try? readAll(input)
            }
        }
    }
}
