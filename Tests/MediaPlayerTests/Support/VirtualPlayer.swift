import IoTCore
import Logging
import MediaTestSupport
import NIOCore
import Synchronization
import Testing

@testable import MediaPlayer

/// A player in virtual time: the real core, playout and decoders, without an event loop and without a thread.
final class VirtualPlayer {
    let core: PlayerCore
    private(set) var now = NIODeadline.uptimeNanoseconds(5_000_000_000)
    private(set) var played: [PlayedFrame] = []
    private(set) var events: [PlayerEvent] = []
    private let time: VirtualTime

    /// - Parameter queues: the threads, by name, whose jobs wait until the test runs them.
    init(
        _ source: any FrameSource, _ capabilities: PlayerCapabilities, parts: PlayerParts = PlayerParts(),
        queues: [String: WaitingQueue] = [:]
    ) {
        let time = VirtualTime(now)
        self.time = time
        var parts = parts
        parts.clock = { time.now }
        parts.jobQueue = { name, _ -> any JobQueue in queues[name] ?? InlineQueue() }
        core = PlayerCore(
            source: source, capabilities: capabilities, parts: parts,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        core.onEvent = { [unowned self] in events.append($0) }
        _ = core.taps.add { [unowned self] in played.append($0) }
        source.onReady = { [unowned self] in core.pump(at: $0) }
        core.join("user")
    }

    func play(_ use: String = "user") throws(IoTError) {
        _ = try core.play(use, at: now)
    }

    /// Calls the core at its timeouts until then.
    func run(for amount: TimeAmount) throws {
        let end = now + amount
        var steps = 0
        while now < end {
            now = min(end, max(core.nextTimeout ?? end, now + .microseconds(1)))
            time.set(now)
            core.handleTimeout(at: now)
            steps += 1
            try #require(steps < 1_000_000)
        }
        core.pump(at: now)
    }

    var statuses: [PlayerStatus] {
        events.compactMap { if case .statusChanged(let status, _) = $0 { status } else { nil } }
    }

    /// The warnings, each with the use it was for.
    var warnings: [(code: ErrorCode, use: String?)] {
        events.compactMap { if case .warning(let error, let use) = $0 { (error.code, use) } else { nil } }
    }

    var hasEnded: Bool { events.contains { if case .ended(nil) = $0 { true } else { false } } }

    /// The pictures that should be shown.
    var pictures: [PlayedFrame] { played.filter { $0.frame.kind == .video && !$0.isLate } }
    var sounds: [PlayedFrame] { played.filter { $0.frame.kind == .audio && !$0.isLate } }

    func forgetPlayed() {
        played = []
        events = []
    }
}

/// The clock of a virtual player.
final class VirtualTime: Sendable {
    private let nanoseconds: Atomic<UInt64>

    init(_ now: NIODeadline) {
        nanoseconds = Atomic(now.uptimeNanoseconds)
    }

    var now: NIODeadline { .uptimeNanoseconds(nanoseconds.load(ordering: .relaxed)) }

    func set(_ now: NIODeadline) {
        nanoseconds.store(now.uptimeNanoseconds, ordering: .relaxed)
    }
}
