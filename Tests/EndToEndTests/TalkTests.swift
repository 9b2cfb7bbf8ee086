import Foundation
import Testing

/// People talk through a camera whose loudspeaker is a WAV file.
@Suite(.serialized, .timeLimit(.minutes(3))) struct TalkTests {
    /// A daemon with the camera `front`, which plays to `heard.wav`.
    private func daemon(_ folder: TemporaryFolder) async throws -> RunningDaemon {
        try await RunningDaemon(
            folder: folder,
            configuration: """
                cameras:
                  - name: front
                    url: \(Product.sample("street-h264-aac.mp4"))
                    talk: file:\(folder.path("heard.wav"))
                """)
    }

    /// Four seconds of speech, in the format of the name.
    private func speech(_ name: String, in folder: TemporaryFolder, arguments: [String] = []) async throws -> String {
        let path = folder.path(name)
        let outcome = try await Program.named(
            "ffmpeg",
            ["-v", "error", "-i", Product.sample("speech.flac"), "-t", "4", "-ac", "1", "-ar", "16000"] + arguments
                + [path]
        ).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        return path
    }

    /// A sound as 8 kHz mono.
    private func samples(_ path: String) async throws -> [Double] {
        let outcome = try await Program.named(
            "ffmpeg", ["-v", "error", "-i", path, "-ac", "1", "-ar", "8000", "-f", "s16le", "-"]
        ).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.output.withUnsafeBytes { bytes in
            bytes.bindMemory(to: Int16.self).map { Double(Int16(littleEndian: $0)) }
        }
    }

    /// What the loudspeaker's file holds after this many bytes, as 8 kHz, and its size. The loudspeaker may still be open.
    private func heard(_ path: String, after size: Int) throws -> (samples: [Double], size: Int) {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let samples = bytes.dropFirst(max(44, size)).withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 1, by: 12).map {
                Double(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int16.self)))
            }
        }
        return (samples, bytes.count)
    }

    /// How well each 40 ms of what was said are found in what was heard, at about their time: the median, up to 1. The
    /// delay shrinks during a talk, so longer parts would not fit.
    private func likeness(_ said: [Double], _ heard: [Double]) -> Double {
        let length = 320
        let likenesses = stride(from: 2_000, to: said.count - length, by: 1_000).compactMap { start -> Double? in
            let part = Array(said[start..<start + length])
            let energy = part.reduce(0) { $0 + $1 * $1 }
            guard energy > Double(length) * 10_000 else { return nil }
            var best = 0.0
            for place in start..<min(start + 2_400, heard.count - length) {
                var (product, square) = (0.0, 0.0)
                for index in 0..<length {
                    let sample = heard[place + index]
                    product += part[index] * sample
                    square += sample * sample
                }
                best = max(best, product / max(1, (square * energy).squareRoot()))
            }
            return best
        }.sorted()
        return likenesses.isEmpty ? 0 : likenesses[likenesses.count / 2]
    }

    /// Waits for the last words, which are played after the caller has stopped, and returns what was heard.
    private func heardWhole(_ said: [Double], _ path: String, after size: Int) async throws -> ([Double], Int) {
        try await eventually("the last words") { try heard(path, after: size).samples.count >= said.count }
        let (samples, size) = try heard(path, after: size)
        return (samples, size)
    }

    @Test("What is said comes out of the loudspeaker, from files of several formats and from a pipe")
    func files() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        let wave = try await speech("said.wav", in: folder)
        let said = try await samples(wave)
        let files = [
            wave, try await speech("said.mp3", in: folder),
            try await speech("said.ogg", in: folder, arguments: ["-c:a", "libopus"]),
        ]
        let file = folder.path("heard.wav")
        var size = 0
        for name in files {
            let outcome = try await daemon.iotctl("talk", "front", name)
            #expect(outcome.status == 0 && outcome.text.contains("front: talked for 4."), "\(outcome)")
            let (sound, end) = try await heardWhole(said, file, after: size)
            #expect(likeness(said, sound) > 0.7, "\(name)")
            size = end
        }
        // A pipe that knows no length, as `arecord` writes it.
        let pipe = try await Program.named(
            "sh",
            [
                "-c",
                "ffmpeg -v error -i '\(wave)' -f wav - | '\(Product.program("iotctl"))' --socket "
                    + "'\(folder.path("socket"))' talk front - --json",
            ]
        ).run()
        #expect(pipe.status == 0 && pipe.text.contains("\"packets\""), "\(pipe)")
        #expect(likeness(said, try await heardWhole(said, file, after: size).0) > 0.7)
        #expect(await daemon.stop() == 0)
    }

    @Test("One person talks at a time; the others get 25047, and their turn comes when it ends")
    func turns() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        let wave = try await speech("said.wav", in: folder)
        let first = try BackgroundProgram([
            "sh", "-c",
            "mkfifo '\(folder.path("pipe"))'; (cat '\(wave)'; sleep 30) > '\(folder.path("pipe"))' & "
                + "exec '\(Product.program("iotctl"))' --socket '\(folder.path("socket"))' talk front - "
                + "< '\(folder.path("pipe"))'",
        ])
        try await eventually("somebody talks") {
            try await daemon.iotctl("property", "read", "front", "ProReadonly.talkers.stVal").text == "1\n"
        }
        let second = try await daemon.iotctl("talk", "front", wave)
        #expect(second.status != 0 && second.errors.contains("25047 talkerBusy"), "\(second)")
        first.send(SIGTERM)
        try await eventually("nobody talks") {
            try await daemon.iotctl("property", "read", "front", "ProReadonly.talkers.stVal").text == "0\n"
        }
        let third = try await daemon.iotctl("talk", "front", wave)
        #expect(third.status == 0, "\(third)")
        #expect(await daemon.stop() == 0)
    }

    @Test("A file without sound, a camera without a loudspeaker, and an account without the right are refused")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        let text = folder.path("notes.txt")
        try "hello".write(toFile: text, atomically: true, encoding: .utf8)
        let noSound = try await daemon.iotctl("talk", "front", text)
        #expect(noSound.status != 0 && noSound.errors.contains("sound"), "\(noSound)")
        let missing = try await daemon.iotctl("talk", "front", folder.path("missing.wav"))
        #expect(missing.status != 0 && missing.errors.contains("25017"), "\(missing)")
        let camera = Product.sample("street-h264-aac.mp4")
        #expect(try await daemon.iotctl("camera", "add", "mute", camera, "--talk", "none").status == 0)
        let wave = try await speech("said.wav", in: folder)
        let mute = try await daemon.iotctl("talk", "mute", wave)
        #expect(mute.status != 0 && mute.errors.contains("21040"), "\(mute)")
        #expect(await daemon.stop() == 0)
    }
}
