import IoTCore
import MediaCodec
import MediaTestSupport
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import MediaPlayer

/// Tests several readers of one player in virtual time; one of them is slow.
@Suite(.timeLimit(.minutes(1))) struct SlowReaderTests {
    /// 1280×720.
    private let source: ClipSource
    private static let frameSize = 6 + 1280 * 720 * 3 / 2
    /// The number of pictures of raw video that may wait for a reader: 72.
    private static let room = RawVideoSink.limits.bytes / (frameSize - 6)

    init() throws {
        source = ClipSource(try SampleClip("bunny-h264-aac51.mp4", rounds: 1))
    }

    private var count: Int { source.clip.pictures }

    /// Reads waiting chunks on demand.
    private final class Reader {
        private let iterator: ChunkStream.AsyncIterator
        private let stream: ChunkStream
        private(set) var chunks: [ByteBuffer] = []

        init(_ sink: MediaSink) {
            stream = sink.chunks
            iterator = sink.chunks.makeAsyncIterator()
        }

        func readWhatIsThere() async throws {
            while stream.chunkCount > 0, let chunk = try await iterator.next() { chunks.append(chunk) }
        }

        func readToEnd() async throws {
            while let chunk = try await iterator.next() { chunks.append(chunk) }
        }

        /// The whole pictures after the header.
        var pictures: Int {
            chunks.count {
                $0.readableBytes == SlowReaderTests.frameSize && $0.getString(at: 0, length: 6) == "FRAME\n"
            }
        }
    }

    private func player(_ queues: [String: WaitingQueue] = [:]) throws -> VirtualPlayer {
        let player = VirtualPlayer(source, PlayerCapabilities(of: .playback), queues: queues)
        ["slow", "fast"].forEach(player.core.join)
        try player.core.prepare(at: player.now)
        return player
    }

    private func run(_ player: VirtualPlayer, _ readers: [Reader] = []) async throws {
        let end = player.now + .microseconds(source.duration) + .seconds(1)
        while player.now < end {
            try player.run(for: .milliseconds(100))
            for reader in readers { try await reader.readWhatIsThere() }
        }
    }

    private func sinks(_ use: String?, _ player: VirtualPlayer) -> [SinkStatistics] {
        player.core.statistics(of: use, at: player.now)?.sinks ?? []
    }

    @Test("A slow reader loses only its own pictures and gets a warning; another gets every picture and no warning")
    func ownFrames() async throws {
        let player = try player()
        let slow = try player.core.addRawVideo(frames: nil, of: "slow")
        let fast = try player.core.addRawVideo(frames: nil, of: "fast")
        let reader = Reader(fast)
        try player.play("slow")
        try player.play("fast")
        try await run(player, [reader])
        try await reader.readToEnd()
        #expect(reader.pictures == count && fast.framesDropped == 0)

        let room = slow.chunks.room
        #expect(room.waiting.bytes <= RawVideoSink.limits.bytes && room.waiting.bytes > RawVideoSink.limits.bytes / 2)
        let late = Reader(slow)
        try await late.readToEnd()
        #expect(late.pictures == count - slow.framesDropped && late.pictures == Self.room, "admitted pictures arrive")

        let lost = sinks("slow", player)
        #expect(
            lost == [
                SinkStatistics(
                    kind: .rawVideo, isOpen: false, frames: count, framesDropped: slow.framesDropped,
                    bytesDropped: slow.framesDropped * (Self.frameSize - 6))
            ])
        #expect(sinks("fast", player).map(\.framesDropped) == [0])
        #expect(sinks(nil, player).count == 2)
        for (use, drops) in [("slow", slow.framesDropped), ("fast", 0)] {
            let video = player.core.statistics(of: use, at: player.now)?.video
            #expect(video?.framesDroppedByReason.slowReader == drops && video?.framesShown == count, "\(use)")
        }
        #expect(player.warnings.map(\.code) == [.slowReader] && player.warnings.map(\.use) == ["slow"])
    }

    @Test("If a number of pictures is requested, a slow reader gets this number, though not consecutive ones")
    func counted() async throws {
        let player = try player()
        let sink = try player.core.addRawVideo(frames: 100, of: "slow")
        let reader = Reader(sink)
        try player.play("slow")
        try player.run(for: .seconds(3))
        try await reader.readWhatIsThere()
        try await run(player)
        try await reader.readToEnd()
        #expect(reader.pictures == 100 && sink.framesDropped > 0)
        #expect(!sinks("slow", player).contains { $0.isOpen })
    }

    @Test("Pictures after the requested ones are not offered to a reader, so they cannot be lost")
    func surplus() async throws {
        let player = try player(["rawVideo": WaitingQueue()])
        let sink = try player.core.addRawVideo(frames: 10, of: "slow")
        try player.play("slow")
        try await run(player)
        #expect(sink.chunks.room.counts == SinkRoom.Counts(frames: 10, framesDropped: 0, bytesDropped: 0))
        #expect(player.warnings.isEmpty)
    }

    @Test("A picture's bytes are written once and shared by all readers")
    func sharedBytes() async throws {
        let player = try player()
        let readers = try ["slow", "fast"].map { Reader(try player.core.addRawVideo(frames: 20, of: $0)) }
        try player.play("fast")
        try await run(player, readers)
        #expect(readers.map(\.pictures) == [20, 20])
        for (first, second) in zip(readers[0].chunks, readers[1].chunks).dropFirst() {
            let places = [first, second].map { $0.withUnsafeReadableBytes { $0.baseAddress } }
            #expect(places[0] == places[1])
        }
    }

    @Test("When a reader leaves, its waiting pictures are released")
    func leaving() async throws {
        let player = try player()
        let sink = try player.core.addRawVideo(frames: nil, of: "slow")
        try player.play("slow")
        try player.run(for: .seconds(1))
        #expect(sink.chunks.room.waiting.bytes > 10 * Self.frameSize)
        do { _ = sink.chunks.makeAsyncIterator() }
        #expect(sink.chunks.room.waiting.bytes == 0 && sink.chunks.chunkCount == 0)
        #expect(sinks("slow", player).map(\.isOpen) == [false])
        try player.run(for: .seconds(1))
        #expect(sink.chunks.room.waiting.bytes == 0 && sink.chunks.chunkCount == 0)
    }

    private struct Weak {
        weak var stream: ChunkStream?
    }

    @Test("Readers that join and leave while the source sends nothing leave nothing in memory")
    func comingAndGoing() throws {
        let player = try player()
        var streams: [[Weak]] = [[], [], []]
        for _ in 0..<20 {
            let sinks = [
                try player.core.addRawVideo(frames: nil, of: "slow"),
                try player.core.addRawAudio(frames: nil, of: "slow"),
                try player.core.addRecording(frames: nil, of: "slow", at: player.now),
            ]
            for (index, sink) in sinks.enumerated() {
                streams[index].append(Weak(stream: sink.chunks))
                _ = sink.chunks.makeAsyncIterator()
            }
        }
        #expect(streams.map { $0.count { $0.stream != nil } } == [1, 1, 1])
    }

    /// Logs its pictures.
    private final class Screen: PictureSink {
        private let log: Log

        init(_ log: Log) { self.log = log }

        func take(_ picture: VideoPicture) -> Bool {
            log.pictures.withLock { $0.append(picture.pts) }
            return true
        }

        func end(_ reason: IoTError?) {}
    }

    private final class Log: Sendable {
        let pictures = Mutex<[Int64]>([])
    }

    @Test("A program's sink that is stuck delays neither the decoder nor another sink")
    func stuck() async throws {
        let (stuck, log) = (WaitingQueue(), Log())
        let player = try player(["pictures": stuck])
        try player.core.addPictures(of: "slow") { Screen(log) }
        let fast = try player.core.addRawVideo(frames: nil, of: "fast")
        let reader = Reader(fast)
        try player.play("slow")
        try player.play("fast")
        try await run(player, [reader])
        try await reader.readToEnd()
        #expect(reader.pictures == count)
        #expect(sinks("slow", player).map(\.framesDropped) == [count - Self.room])
        #expect(player.warnings.map(\.use) == ["slow"])
        stuck.run()
        let times = source.clip.frames.filter { $0.kind == .video }.map(\.pts).sorted()
        #expect(log.pictures.withLock { $0 } == Array(times.prefix(Self.room)))
    }

    @Test("Encoding a snapshot delays nothing, and the snapshot is the newest picture at the time of the request")
    func snapshot() async throws {
        let encoding = WaitingQueue()
        let player = try player(["snapshots": encoding])
        try player.play("fast")
        try player.run(for: .seconds(1))
        let wish = SnapshotWish(.jpeg, on: MultiThreadedEventLoopGroup.singleton.any())
        let newest = player.core.firstPicturePts(of: "fast")
        try player.core.addSnapshot(wish)
        try await run(player)
        #expect(player.core.statistics(of: nil, at: player.now)?.video?.framesShown == count)
        #expect(wish.isOpen)
        encoding.run()
        let picture = try await wish.picture
        let first = try #require(newest)
        #expect(picture.width == 1280 && (first + 800_000...first + 1_200_000).contains(picture.pts))
    }
}
