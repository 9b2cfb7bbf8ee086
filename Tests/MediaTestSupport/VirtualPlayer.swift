package import IoTCore
package import Logging
package import MediaPlayer
package import NIOCore
import Synchronization

/// A player in virtual time: the real core, playout and decoders, without an event loop and without a thread.
package final class VirtualPlayer {
    package let core: PlayerCore
    package private(set) var now = NIODeadline.uptimeNanoseconds(5_000_000_000)
    package private(set) var played: [PlayedFrame] = []
    package private(set) var events: [PlayerEvent] = []
    private let time: VirtualTime

    /// - Parameter queues: the threads, by name, whose jobs wait until the test runs them.
    package init(
        _ source: any FrameSource, _ capabilities: PlayerCapabilities, parts: PlayerParts = PlayerParts(),
        queues: [String: any JobQueue] = [:],
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) {
        let time = VirtualTime(now)
        self.time = time
        var parts = parts
        parts.clock = { time.now }
        parts.jobQueue = { name, _ -> any JobQueue in queues[name] ?? InlineQueue() }
        core = PlayerCore(
            source: source, capabilities: capabilities, parts: parts,
            logger: logger, at: now)
        core.onEvent = { [weak self] in self?.events.append($0) }
        _ = core.taps.add { [weak self] in self?.played.append($0) }
        source.onReady = { [weak self] in self?.core.pump(at: $0) }
        core.join("user")
    }

    /// The virtual time, on any thread.
    package var clock: @Sendable () -> NIODeadline { { [time] in time.now } }

    package func play(_ use: String = "user") throws(IoTError) {
        _ = try core.play(use, at: now)
    }

    /// Calls the core at its timeouts until then.
    package func run(for amount: TimeAmount) throws {
        let end = now + amount
        var steps = 0
        while now < end {
            now = min(end, max(core.nextTimeout ?? end, now + .microseconds(1)))
            time.set(now)
            core.handleTimeout(at: now)
            steps += 1
            guard steps < 1_000_000 else { throw IoTError(.internalFailure, "the virtual player makes no progress") }
        }
        core.pump(at: now)
    }

    package var statuses: [PlayerStatus] {
        events.compactMap { if case .statusChanged(let status, _) = $0 { status } else { nil } }
    }

    /// The warnings, each with the use it was for.
    package var warnings: [(code: ErrorCode, use: String?)] {
        events.compactMap { if case .warning(let error, let use) = $0 { (error.code, use) } else { nil } }
    }

    package var hasEnded: Bool { events.contains { if case .ended(nil) = $0 { true } else { false } } }

    /// The pictures that should be shown.
    package var pictures: [PlayedFrame] { played.filter { $0.frame.kind == .video && !$0.isLate } }
    package var sounds: [PlayedFrame] { played.filter { $0.frame.kind == .audio && !$0.isLate } }

    package func forgetPlayed() {
        played = []
        events = []
    }
}

/// The clock of a virtual player.
package final class VirtualTime: Sendable {
    private let nanoseconds: Atomic<UInt64>

    package init(_ now: NIODeadline) {
        nanoseconds = Atomic(now.uptimeNanoseconds)
    }

    package var now: NIODeadline { .uptimeNanoseconds(nanoseconds.load(ordering: .relaxed)) }

    package func set(_ now: NIODeadline) {
        nanoseconds.store(now.uptimeNanoseconds, ordering: .relaxed)
    }
}
