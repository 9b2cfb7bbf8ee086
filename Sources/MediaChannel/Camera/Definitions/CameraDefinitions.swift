import IoTCore
import Logging
import NIOCore

/// The renditions of a camera: that of the main source, which is always read, and those that are read while somebody
/// uses them. Confined to the camera's event loop.
final class CameraDefinitions {
    /// Starts to read a source, and returns the function that stops it.
    typealias OpenSource =
        @Sendable (_ onEvent: @escaping @Sendable (CameraSourceEvent) -> Void) -> @Sendable () -> Void

    /// What a viewer gets for its wish.
    struct Choice {
        var definition: Definition
        var rendition: Rendition
    }

    private struct Running {
        let rendition: Rendition
        let stop: @Sendable () -> Void
        var lastUsed: NIODeadline
    }

    /// How long a source is read after its last use, because a viewer may come back.
    static let linger = TimeAmount.seconds(10)
    private static let interval = TimeAmount.seconds(2)

    let main: Rendition
    private let sources: [Definition: OpenSource]
    private let make: (Definition) -> Rendition
    private let isUsed: (Rendition) -> Bool
    private var running: [Definition: Running] = [:]
    private var timer: Scheduled<Void>?
    private var isClosed = false

    /// - Parameters:
    ///   - sources: The sources of other definitions than `high`.
    ///   - make: Makes the rendition of a source.
    ///   - isUsed: Whether a viewer needs the rendition.
    init(
        main: Rendition, sources: [Definition: OpenSource], _ make: @escaping (Definition) -> Rendition,
        isUsed: @escaping (Rendition) -> Bool
    ) {
        self.main = main
        self.sources = sources
        self.make = make
        self.isUsed = isUsed
    }

    /// The definitions that the camera has, the best picture first.
    var all: [Definition] {
        var hasSound = main.audio != nil
        // Not known yet.
        if case .connecting = main.source { hasSound = true }
        return [.high] + [.mid, .low].filter { sources[$0] != nil } + (hasSound ? [.audio] : [])
    }

    /// The first wanted definition that the camera has, and the rendition from which it comes. Opens its source.
    ///
    /// - Parameters:
    ///   - wanted: `nil` for `high`.
    ///   - current: The rendition whose sound a viewer has: it stays for the definition `audio`.
    /// - Throws: 25133 if the camera has none of them.
    func choose(_ wanted: [Definition]?, current: Rendition? = nil) throws(IoTError) -> Choice {
        let all = all
        guard let definition = (wanted ?? [.high]).first(where: all.contains) else {
            throw IoTError(
                .definitionUnavailable, remedy: "choose one of: " + all.map(\.rawValue).joined(separator: ", "))
        }
        return Choice(definition: definition, rendition: try rendition(definition, current))
    }

    private func rendition(_ definition: Definition, _ current: Rendition?) throws(IoTError) -> Rendition {
        if definition == .audio, let current, current.audio != nil { return current }
        guard let open = sources[definition] else { return main }
        if let known = running[definition]?.rendition { return known }
        guard !isClosed else { throw IoTError(.stopping) }
        let rendition = make(definition)
        let bound = NIOLoopBound(rendition, eventLoop: main.eventLoop)
        let stop = open(SourceHandOff(main.eventLoop) { bound.value.handle($0) }.take)
        running[definition] = Running(rendition: rendition, stop: stop, lastUsed: main.eventLoop.now)
        scheduleCheck()
        return rendition
    }

    private func scheduleCheck() {
        guard timer == nil, !running.isEmpty else { return }
        timer = main.eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { [weak self] in
            guard let self else { return }
            timer = nil
            closeUnused(at: main.eventLoop.now)
            scheduleCheck()
        }
    }

    private func closeUnused(at now: NIODeadline) {
        for (definition, entry) in running {
            // A source that opens again has no back-off: a camera would lock the account after some refused logins.
            if case .failed(let error) = entry.rendition.source, error.code == .sourceRefused { continue }
            if entry.rendition.isAwaited(at: now) || isUsed(entry.rendition) {
                running[definition]?.lastUsed = now
            } else if now - entry.lastUsed >= Self.linger {
                running[definition] = nil
                entry.stop()
                entry.rendition.close()
            }
        }
    }

    func close() {
        isClosed = true
        timer?.cancel()
        timer = nil
        for entry in running.values {
            entry.stop()
            entry.rendition.close()
        }
        running = [:]
        main.close()
    }
}
