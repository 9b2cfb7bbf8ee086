import IoTCore
import MediaCodec
import MediaTestSupport
import NIOCore
import Synchronization
import Testing

@testable import MediaPlayer

/// Tests a program's own player parts, in virtual time.
@Suite(.timeLimit(.minutes(1))) struct PlayerPartsTests {
    /// The parts' calls.
    private final class Log: Sendable {
        let entries = Mutex<[String]>([])

        func add(_ entry: String) { entries.withLock { $0.append(entry) } }

        func count(_ entry: String) -> Int { entries.withLock { $0.count { $0 == entry } } }
    }

    /// Takes a number of items, then ends.
    private final class Screen: PictureSink, SoundSink {
        private let log: Log
        private var remaining: Int

        init(_ log: Log, atMost count: Int = .max) {
            self.log = log
            remaining = count
        }

        private func take(_ entry: String) -> Bool {
            log.add(entry)
            remaining -= 1
            return remaining > 0
        }

        func take(_ picture: VideoPicture) -> Bool { take("picture") }

        func take(_ sound: AudioBuffer, presentAt: NIODeadline) -> Bool { take("sound") }

        func end(_ reason: IoTError?) { log.add("end") }
    }

    private final class Tape: Recorder {
        let frames = Mutex<[(kind: MediaKind, isKeyFrame: Bool, senderTime: Int64)]>([])
        let isEnded = Atomic(false)

        var isClosed: Bool { isEnded.load(ordering: .relaxed) }

        func take(_ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline) {
            frames.withLock { $0.append((frame.kind, frame.isKeyFrame, senderTime)) }
        }

        func end(_ reason: IoTError?) { isEnded.store(true, ordering: .relaxed) }
    }

    private func source() throws -> ClipSource {
        ClipSource(try SampleClip("bunny-h264-aac51.mp4", rounds: 1))
    }

    @Test("A supplied decoder decodes every picture; one that cannot be made loses only its own frames")
    func decoders() throws {
        let source = try source()
        let count = CountingDecoder.Count()
        var parts = PlayerParts()
        parts.pictureDecoder = { parameters throws(IoTError) in try CountingDecoder(parameters, count) }
        parts.soundDecoder = { _ throws(IoTError) in throw IoTError(.codecUnsupported) }
        let player = VirtualPlayer(source, PlayerCapabilities(of: .playback), parts: parts)
        try player.play()
        try player.run(for: .microseconds(source.duration) + .seconds(1))
        #expect(count.value == source.clip.pictures)
        let statistics = try #require(player.core.statistics(of: nil, at: player.now))
        #expect(statistics.video?.framesShown == source.clip.pictures)
        #expect(statistics.audio?.framesDroppedByReason.corrupt == source.clip.frames.count { $0.kind == .audio })
        #expect(player.warnings.map(\.code) == [.notImplemented], "reported once, not for each frame")
        #expect(player.hasEnded)
    }

    /// Fails to decode some of its frames.
    private final class FailingDecoder: PictureDecoder {
        private let decoder: VideoDecoder
        private var count = 0
        private let failures: Set<Int>

        init(_ parameters: VideoParameters, failures: Set<Int>) throws(IoTError) {
            decoder = try VideoDecoder(parameters)
            self.failures = failures
        }

        func decode(_ frame: MediaFrame, isShown: Bool) throws(IoTError) -> [VideoPicture] {
            count += 1
            guard !failures.contains(count) else { throw IoTError(.internalFailure, "no memory on the card") }
            return try decoder.decode(frame, isShown: isShown)
        }

        func flush() -> [VideoPicture] { decoder.flush() }

        func reset() { decoder.reset() }
    }

    @Test("A supplied decoder that fails is reported with 21030 each time it starts to fail, and the channel continues")
    func failingDecoder() throws {
        let source = try source()
        var parts = PlayerParts()
        parts.pictureDecoder = { parameters throws(IoTError) in
            try FailingDecoder(parameters, failures: [40, 41, 42, 60])
        }
        let player = VirtualPlayer(source, PlayerCapabilities(of: .playback), parts: parts)
        try player.play()
        try player.run(for: .microseconds(source.duration) + .seconds(1))
        #expect(player.warnings.map(\.code) == [.notImplemented, .notImplemented])
        #expect(player.warnings.allSatisfy { $0.use == nil }, "it concerns all users")
        let statistics = try #require(player.core.statistics(of: nil, at: player.now))
        #expect((statistics.video?.framesDroppedByReason.corrupt ?? 0) >= 4)
        #expect((statistics.video?.framesShown ?? 0) > 30)
        #expect(player.hasEnded)
    }

    /// Returns pictures with impossible times.
    private final class TimelessPictures: PictureDecoder {
        private let decoder: VideoDecoder
        private var times: [Int64] = [.max, .min + 1, .max - 5, -1, .min + 7]

        init(_ parameters: VideoParameters) throws(IoTError) {
            decoder = try VideoDecoder(parameters)
        }

        func decode(_ frame: MediaFrame, isShown: Bool) throws(IoTError) -> [VideoPicture] {
            var frame = frame
            frame.pts = times.removeFirst()
            times.append(frame.pts)
            return try decoder.decode(frame, isShown: isShown)
        }

        func flush() -> [VideoPicture] { decoder.flush() }
        func reset() { decoder.reset() }
    }

    private final class TimelessSounds: SoundDecoder {
        private var times: [Int64] = [.min, .max, 0, .min, .max]

        func decode(_ frame: MediaFrame) throws(IoTError) -> [AudioBuffer] {
            let pts = times.removeFirst()
            times.append(pts)
            return [
                AudioBuffer(
                    pts: pts, sampleRate: 8_000, channels: 1, samples: ByteBuffer(repeating: 0, count: 320))
            ]
        }
    }

    @Test("A supplied decoder that returns impossible times loses only those pictures and sounds")
    func timeless() throws {
        let source = try source()
        var parts = PlayerParts()
        parts.pictureDecoder = { parameters throws(IoTError) in try TimelessPictures(parameters) }
        parts.soundDecoder = { _ in TimelessSounds() }
        let player = VirtualPlayer(source, PlayerCapabilities(of: .playback), parts: parts)
        try player.core.prepare(at: player.now)
        let video = try player.core.addRawVideo(frames: nil)
        let audio = try player.core.addRawAudio(frames: nil)
        try player.play()
        try player.run(for: .microseconds(source.duration) + .seconds(1))
        let statistics = try #require(player.core.statistics(of: nil, at: player.now))
        #expect((statistics.video?.framesDroppedByReason.corrupt ?? 0) > 10)
        #expect((statistics.audio?.framesDroppedByReason.corrupt ?? 0) > 10)
        #expect(video.chunks.room.counts.frames > 10 && audio.chunks.room.counts.frames > 10)
        #expect(player.hasEnded)
    }

    @Test("Supplied sinks get every picture and all sound, until they return false, and the end")
    func sinks() throws {
        let source = try source()
        let (all, few) = (Log(), Log())
        let player = VirtualPlayer(source, PlayerCapabilities(of: .playback))
        try player.core.prepare(at: player.now)
        try player.core.addPictures { Screen(all) }
        try player.core.addSound { Screen(all) }
        try player.core.addPictures { Screen(few, atMost: 3) }
        try player.play()
        try player.run(for: .microseconds(source.duration) + .seconds(1))
        #expect(all.count("picture") == source.clip.pictures)
        #expect(all.count("sound") > 0)
        #expect(all.count("end") == 2)
        #expect(few.count("picture") == 3 && few.count("end") == 0)
        #expect(throws: IoTError.self) { try player.core.addPictures { Screen(all) } }
    }

    /// Makes a picture of one brightness, of half the size; fails at some pictures.
    private final class Grey: PictureProcessor {
        private let failures: ClosedRange<Int>
        private var count = 0

        init(failures: ClosedRange<Int>) { self.failures = failures }

        func process(_ picture: VideoPicture) throws(IoTError) -> VideoPicture {
            count += 1
            guard !failures.contains(count) else { throw IoTError(.notImplemented, "no grey on the card") }
            let (width, height) = (picture.width / 4 * 2, picture.height / 4 * 2)
            let bytes = ByteBuffer(repeating: 99, count: width * height * 3 / 2)
            return try VideoPicture(yuv420p: bytes, width: width, height: height, pts: picture.pts)
        }
    }

    /// Collects the sizes and the first samples of pictures.
    private final class Gallery: PictureSink {
        private let log: Log

        init(_ log: Log) { self.log = log }

        func take(_ picture: VideoPicture) -> Bool {
            log.add("\(picture.width)x\(picture.height) \(picture.packedBytes().readableBytesView.first ?? 0)")
            return true
        }

        func end(_ reason: IoTError?) { log.add("end") }
    }

    @Test(
        "A supplied processor makes every picture that is shown; if it fails, the picture is lost and 21030 reported once"
    )
    func processor() throws {
        let source = try source()
        let (shown, heard) = (Log(), Log())
        var parts = PlayerParts()
        parts.pictureProcessor = { Grey(failures: 10...12) }
        parts.pictureRenderer = { Gallery(shown) }
        parts.soundRenderer = { Screen(heard) }
        let player = VirtualPlayer(source, PlayerCapabilities(of: .playback), parts: parts)
        try player.play()
        try player.run(for: .microseconds(source.duration) + .seconds(1))
        let size = "\(source.clip.video.width / 4 * 2)x\(source.clip.video.height / 4 * 2) 99"
        #expect(shown.count(size) == source.clip.pictures - 3 && shown.count("end") == 1)
        #expect(heard.count("sound") > 0 && heard.count("end") == 1, "a renderer needs no sink of a user")
        #expect(player.warnings.map(\.code) == [.notImplemented])
        #expect(player.hasEnded)
    }

    @Test("A picture of a program's own bytes has them; other sizes are refused")
    func ownPicture() throws {
        let bytes = ByteBuffer(bytes: (0..<24).map { UInt8($0) })
        let picture = try VideoPicture(yuv420p: bytes, width: 4, height: 4, pts: 7)
        #expect(picture.packedBytes() == bytes && picture.pts == 7 && picture.format == "yuv420p")
        for (width, height) in [(3, 4), (4, 2), (0, 4), (4, Int.max - 1)] {
            #expect(throws: IoTError.self) { try VideoPicture(yuv420p: bytes, width: width, height: height, pts: 0) }
        }
    }

    @Test("A recorder added during play gets the frames from the newest key frame on, until the end")
    func recorder() throws {
        let source = try source()
        let tape = Tape()
        let player = VirtualPlayer(source, PlayerCapabilities(of: .playback))
        try player.play()
        try player.run(for: .seconds(2))
        var tracks = (video: false, audio: false)
        try player.core.addRecorder(at: player.now) { video, audio in
            tracks = (video == source.clip.video, audio == source.clip.audio)
            return tape
        }
        #expect(tracks.video && tracks.audio)
        try player.run(for: .microseconds(source.duration))
        let frames = tape.frames.withLock { $0 }
        let first = try #require(frames.first)
        #expect(first.kind == .video && first.isKeyFrame && first.senderTime < 2_000_000)
        let pictures = source.clip.frames.filter { $0.kind == .video && $0.pts >= first.senderTime }
        #expect(frames.count { $0.kind == .video } == pictures.count)
        #expect(tape.isClosed)
    }
}
