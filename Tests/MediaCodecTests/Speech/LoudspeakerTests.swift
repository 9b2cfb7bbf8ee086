import Foundation
import IoTCore
import TestSupport
import Testing

@testable import MediaCodec

@Suite struct LoudspeakerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func noise(_ seed: UInt64, count: Int = 24_000) -> [Int16] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in Int16.random(in: -8_000...8_000, using: &generator) }
    }

    private func play(_ sound: [Int16], into loudspeaker: ThreadedLoudspeaker) async throws {
        try await loudspeaker.open()
        for start in stride(from: 0, to: sound.count, by: 960) {
            loudspeaker.play(Array(sound[start..<min(start + 960, sound.count)]))
        }
        await loudspeaker.close()
        await loudspeaker.close()
    }

    private func samples(_ path: String) throws -> [Int16] {
        try FFmpegTool.rawAudio(path).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    @Test("A file holds what was played, for its owner only; later sound is appended")
    func file() async throws {
        let path = folder.file("talk.wav")
        try await play(noise(1), into: ThreadedLoudspeaker(wavFile: path))
        #expect(try samples(path) == noise(1))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FFmpegTool.probe(path, ["-show_entries", "format=duration"]) == "0.500000")
        try await play(noise(2, count: 9_601), into: ThreadedLoudspeaker(wavFile: path))
        #expect(try samples(path) == noise(1) + noise(2, count: 9_601))
    }

    @Test("A file does not grow past its limit, and keeps what it has")
    func limit() async throws {
        let path = folder.file("talk.wav")
        for _ in 0..<2 { try await play(noise(1), into: ThreadedLoudspeaker(wavFile: path, limit: 60_000)) }
        let expected = noise(1) + noise(1)
        #expect(try samples(path) == Array(expected[..<((60_000 - 44) / 2)]))
    }

    @Test("Other files, links and directories are refused and stay as they are")
    func refused() async throws {
        let other = folder.file("letter.txt")
        try "Dear Ada, this letter is longer than the header of a WAV file.".write(
            toFile: other, atomically: true, encoding: .utf8)
        let stereo = folder.file("stereo.wav")
        try FFmpegTool.run(["-f", "lavfi", "-i", "sine", "-t", "1", "-ac", "2", stereo])
        let link = folder.file("link.wav")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.file("target.wav"))
        for path in [other, stereo, link, folder.path, folder.file("absent/talk.wav")] {
            let before = try? Data(contentsOf: URL(fileURLWithPath: path))
            let loudspeaker = ThreadedLoudspeaker(wavFile: path)
            let error = await #expect(throws: IoTError.self) { try await loudspeaker.open() }
            #expect(error?.code == .fileFailed, "\(path)")
            await loudspeaker.close()
            #expect(before == (try? Data(contentsOf: URL(fileURLWithPath: path))))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("target.wav")))
    }

    @Test("Two loudspeakers cannot write the same file")
    func shared() async throws {
        let path = folder.file("talk.wav")
        let first = ThreadedLoudspeaker(wavFile: path)
        try await first.open()
        let second = ThreadedLoudspeaker(wavFile: path)
        let error = await #expect(throws: IoTError.self) { try await second.open() }
        #expect(error?.code == .fileFailed)
        await first.close()
        try await play(noise(1), into: ThreadedLoudspeaker(wavFile: path))
        #expect(try samples(path) == noise(1))
    }
}
