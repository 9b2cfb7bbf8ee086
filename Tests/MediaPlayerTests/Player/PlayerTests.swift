import IoTCore
import Logging
import MediaTestSupport
import NIOCore
import NIOEmbedded
import Testing

@testable import MediaPlayer

/// Tests the player on a loop with virtual time.
@Suite struct PlayerTests {
    private final class Statuses {
        var list: [PlayerStatus] = []
    }

    @Test("The loop's timers alone play a source to its end, and no timer remains afterwards")
    func timers() throws {
        let loop = EmbeddedEventLoop()
        let source = ClipSource(try SampleClip("bunny-h264-aac51.mp4", rounds: 1))
        var parts = PlayerParts()
        parts.clock = { loop.now }
        parts.jobQueue = { _, _ in InlineQueue() }
        let statuses = Statuses()
        let player = Player(
            source: source, capabilities: PlayerCapabilities(of: .playback), parts: parts, eventLoop: loop,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { event in
            if case .statusChanged(let status, _) = event { statuses.list.append(status) }
        }
        player.run { core, _ in core.join("user") }
        let starts = try player.run { core, now throws(IoTError) in try core.play("user", at: now) }
        #expect(!starts, "the source reports its tracks only after that")
        loop.advanceTime(by: .seconds(1))
        #expect(statuses.list == [.preparing, .ready, .loading, .playing])
        let position = try player.run { core, now throws(IoTError) in try core.position(at: now) }
        #expect(position == source.clip.frames[0].pts + 1_000_000)
        loop.advanceTime(by: .microseconds(source.duration))
        #expect(statuses.list.suffix(2) == [.stopping, .stopped])
        let shown = player.run { core, now in core.statistics(of: "user", at: now)?.video?.framesShown }
        #expect(shown == source.clip.pictures)
        #expect(player.run { core, _ in core.nextTimeout } == nil)
    }

    @Test("A source that calls `onReady` is played without a timer")
    func ready() throws {
        let loop = EmbeddedEventLoop()
        let source = ScriptedSource()
        var parts = PlayerParts()
        // A decoder's own thread may not use this loop.
        parts.jobQueue = { _, _ in InlineQueue() }
        let statuses = Statuses()
        let player = Player(
            source: source, capabilities: PlayerCapabilities(of: .monitor), parts: parts, eventLoop: loop,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { event in
            if case .statusChanged(let status, _) = event { statuses.list.append(status) }
        }
        try player.run { core, now throws(IoTError) in try core.prepare(at: now) }
        source.give(.opened(FrameSourceDescription(video: VideoParameters(codec: .h264), audio: nil)), at: loop.now)
        #expect(statuses.list == [.preparing, .ready])
        source.give(.failed(IoTError(.slowReader)), at: loop.now)
        #expect(statuses.list == [.preparing, .ready])
        source.give(.closed(IoTError(.hungUp)), at: loop.now)
        #expect(statuses.list == [.preparing, .ready, .stopping, .stopped])
        #expect(source.closedFor?.code == .hungUp)
    }

    /// Returns the test's outputs.
    private final class ScriptedSource: FrameSource {
        let delivery = FrameDelivery.arriving
        var onReady: ((NIODeadline) -> Void)?
        private(set) var closedFor: IoTError?
        private var outputs: [FrameSourceOutput] = []

        func give(_ output: FrameSourceOutput, at now: NIODeadline) {
            outputs.append(output)
            onReady?(now)
        }

        func poll(at now: NIODeadline) -> FrameSourceOutput? {
            outputs.isEmpty ? nil : outputs.removeFirst()
        }

        func close(_ reason: IoTError?, at now: NIODeadline) {
            closedFor = reason
        }
    }
}
