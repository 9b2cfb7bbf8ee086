import Foundation
import IoTCore
import Logging
import MediaCodec
import MediaTestSupport
import NIOCore
import Synchronization
import Testing

@testable import MediaPlayer

/// The stages of a play in the log.
@Suite("Stages of a play") struct StageTranscriptTests {
    /// The lines at `info` and above, as `12 connected audio key:value …`.
    private final class Transcript: Sendable {
        let lines = Mutex<[String]>([])

        func logger(_ level: Logger.Level = .info) -> Logger {
            var logger = Logger(label: "test") { _ in Handler(transcript: self) }
            logger.logLevel = level
            return logger
        }

        struct Handler: LogHandler {
            let transcript: Transcript
            var logLevel = Logger.Level.info
            var metadata: Logger.Metadata = [:]

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
                transcript.lines.withLock {
                    $0.append("\(event.level) \(event.message) \(facts.joined(separator: " "))")
                }
            }
        }
    }

    private func play(_ transcript: Transcript, _ logger: Logger) throws -> [StageEntry] {
        let source = ClipSource(try SampleClip("bunny-h264-aac51.mp4", rounds: 1))
        let player = VirtualPlayer(source, PlayerCapabilities(of: .playback), logger: logger)
        try player.core.prepare(at: player.now)
        try player.core.addPictures { CountingSink() }
        try player.play()
        try player.run(for: .milliseconds(300))
        player.core.stop(at: player.now)
        player.core.takeDecodeEvents(at: player.now)
        return player.core.stageEntries
    }

    private final class CountingSink: PictureSink {
        func take(_ picture: VideoPicture) -> Bool { true }
        func end(_ reason: IoTError?) {}
    }

    @Test("The thirteen stages of a play are one line each, with the time since the first")
    func golden() throws {
        let transcript = Transcript()
        let entries = try play(transcript, transcript.logger())
        let lines = transcript.lines.withLock { $0 }
        let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Support/play-stages.txt")
        if ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] == "1" {
            try (lines.joined(separator: "\n") + "\n").write(to: golden, atomically: true, encoding: .utf8)
        }
        #expect(try lines.joined(separator: "\n") + "\n" == String(contentsOf: golden, encoding: .utf8))
        // Released after the description was made.
        #expect(entries.count == lines.count - 1)
        #expect(Set(entries.map(\.stage)) == Set(PlayStage.allCases).subtracting([.released]))
    }

    @Test("A sound that leaves the decoder after its time is heard then, and not before it was decoded")
    func slowDecoder() throws {
        let queue = WaitingQueue()
        let player = VirtualPlayer(
            ClipSource(try SampleClip("bunny-h264-aac51.mp4", rounds: 1)), PlayerCapabilities(of: .playback),
            queues: ["decoder": queue])
        try player.core.prepare(at: player.now)
        try player.play()
        try player.run(for: .milliseconds(400))
        queue.run()
        try player.run(for: .milliseconds(100))
        player.core.takeDecodeEvents(at: player.now)
        let sound = player.core.stageEntries.filter { $0.track == .audio }
        #expect(sound.first { $0.stage == .decoded }?.time == .milliseconds(400))
        #expect(sound.first { $0.stage == .shown }?.time == .milliseconds(400))
    }

    @Test("At debug each further frame is a line, and none is recorded")
    func everyFrame() throws {
        let transcript = Transcript()
        let entries = try play(transcript, transcript.logger(.debug))
        let lines = transcript.lines.withLock { $0 }
        #expect(lines.count { $0.hasPrefix("debug play stage") } > 20)
        #expect(lines.count { $0.hasPrefix("info play stage") } == entries.count + 1)
    }
}
