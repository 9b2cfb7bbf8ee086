import IoTCore
import Logging
import NIOCore

/// The renditions of a camera: that of the main source, which is always read, and those that are read while somebody
/// uses them. Confined to the camera's event loop.
final class CameraDefinitions {
    /// Stops a source, and calls the function after its thread has ended.
    typealias StopSource = @Sendable (_ onEnd: @escaping @Sendable () -> Void) -> Void
    /// Starts to read a source.
    typealias OpenSource = @Sendable (_ onEvent: @escaping @Sendable (CameraSourceEvent) -> Void) -> StopSource

    /// What is read besides the main source.
    enum Place: Hashable {
        /// Another definition than `high` of the main camera.
        case definition(Definition)
        /// A further camera, from 1 on.
        case camera(UInt8)
    }

    /// What a viewer gets for its wish.
    struct Choice {
        var definition: Definition
        var rendition: Rendition
    }

    private struct Running {
        let rendition: Rendition
        let stop: StopSource
        var lastUsed: NIODeadline
    }

    /// How long a source is read after its last use, because a viewer may come back.
    static let linger = TimeAmount.seconds(10)
    private static let interval = TimeAmount.seconds(2)

    let main: Rendition
    private let sources: [Place: OpenSource]
    private let make: (Definition) -> Rendition
    private let isUsed: (Rendition) -> Bool
    private var running: [Place: Running] = [:]
    /// The heights of the pictures of sources that are not read now, in pixels.
    private var knownHeights: [Place: Int] = [:]
    private var timer: Scheduled<Void>?
    private var isClosed = false

    /// - Parameters:
    ///   - sources: The sources of other definitions than `high`, and of further cameras.
    ///   - make: Makes the rendition of a source.
    ///   - isUsed: Whether a viewer needs the rendition.
    init(
        main: Rendition, sources: [Place: OpenSource], _ make: @escaping (Definition) -> Rendition,
        isUsed: @escaping (Rendition) -> Bool
    ) {
        self.main = main
        self.sources = sources
        self.make = make
        self.isUsed = isUsed
    }

    /// The definitions that the camera has, the best picture first.
    var all: [Definition] {
        var hasSound = main.hasSound
        // Not known yet.
        if case .connecting = main.source { hasSound = true }
        return [.high] + [.mid, .low].filter { sources[.definition($0)] != nil } + (hasSound ? [.audio] : [])
    }

    /// The first wanted definition that the camera has, and the rendition from which it comes. Opens its source.
    ///
    /// - Parameters:
    ///   - wanted: `nil` for `high`.
    ///   - current: The rendition whose sound a viewer has: it stays for the definition `audio`.
    /// - Throws: 25133 if the camera has none of them.
    func choose(_ wanted: [WantedDefinition]?, current: Rendition? = nil) throws(IoTError) -> Choice {
        let all = all
        for word in wanted ?? [.named(.high)] {
            guard let definition = find(word, in: all) else { continue }
            return Choice(definition: definition, rendition: try rendition(definition, current))
        }
        throw IoTError(.definitionUnavailable, remedy: "choose one of: " + all.map(\.rawValue).joined(separator: ", "))
    }

    private func find(_ wanted: WantedDefinition, in all: [Definition]) -> Definition? {
        switch wanted {
        case .named(let definition): all.contains(definition) ? definition : nil
        case .height(let height): all.first { self.height(of: $0) == height }
        }
    }

    // MARK: Heights

    /// The height of the definition's picture in pixels. `nil` if the height is not known. `nil` for sound alone.
    private func height(of definition: Definition) -> Int? {
        switch definition {
        case .audio: nil
        case .high: main.videoParameters?.height
        case .mid, .low:
            running[.definition(definition)]?.rendition.videoParameters?.height
                ?? knownHeights[.definition(definition)]
        }
    }

    /// Whether heights that are not known yet may decide which of the wanted definitions is used.
    func dependsOnHeights(_ wanted: [WantedDefinition]) -> Bool {
        let all = all
        let undecided = wanted.prefix { find($0, in: all) == nil }
        return undecided.contains { if case .height = $0 { true } else { false } } && !ofUnknownHeight.isEmpty
    }

    private var ofUnknownHeight: [Definition] { all.filter { $0 != .audio && height(of: $0) == nil } }

    /// Completes when all heights are known; a source that does not answer has none. Opens the sources for this.
    func untilHeightsAreKnown() -> EventLoopFuture<Void> {
        let ready = ofUnknownHeight.compactMap { definition in (try? rendition(definition, nil))?.untilReady() }
        return EventLoopFuture.andAllComplete(ready, on: main.eventLoop)
    }

    // MARK: Further cameras

    /// The definitions of a further camera.
    static let ofFurtherCameras: [Definition] = [.high]

    /// The rendition of a further camera. Opens its source.
    ///
    /// - Throws: 20009 if there is no such camera; 25133 if none of the wanted definitions is `high`.
    func choose(camera number: UInt8, _ wanted: [WantedDefinition]?) throws(IoTError) -> Choice {
        guard let rendition = try rendition(at: .camera(number), .high) else {
            throw IoTError(
                .callTargetNotFound, "the device has no source \(number)",
                remedy: "use 0 to \(sourceCount - 1)")
        }
        guard wanted?.contains(.named(.high)) != false else {
            throw IoTError(.definitionUnavailable, remedy: "sources from 1 on have only the definition high")
        }
        return Choice(definition: .high, rendition: rendition)
    }

    /// The numbers of sources are below it.
    private var sourceCount: Int {
        1 + sources.keys.count { if case .camera = $0 { true } else { false } }
    }

    private func rendition(_ definition: Definition, _ current: Rendition?) throws(IoTError) -> Rendition {
        if definition == .audio, let current, current.audio != nil { return current }
        return try rendition(at: .definition(definition), definition) ?? main
    }

    private func rendition(at place: Place, _ definition: Definition) throws(IoTError) -> Rendition? {
        guard let open = sources[place] else { return nil }
        if let known = running[place]?.rendition { return known }
        guard !isClosed else { throw IoTError(.stopping) }
        let rendition = make(definition)
        let bound = NIOLoopBound(rendition, eventLoop: main.eventLoop)
        let stop = open(SourceHandOff(main.eventLoop) { bound.value.handle($0) }.take)
        running[place] = Running(rendition: rendition, stop: stop, lastUsed: main.eventLoop.now)
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
        for (place, entry) in running {
            // A source that opens again has no back-off: a camera would lock the account after some refused logins.
            if case .failed(let error) = entry.rendition.source, error.code == .sourceRefused { continue }
            if entry.rendition.isAwaited(at: now) || isUsed(entry.rendition) {
                running[place]?.lastUsed = now
            } else if now - entry.lastUsed >= Self.linger {
                running[place] = nil
                knownHeights[place] = entry.rendition.videoParameters?.height ?? knownHeights[place]
                entry.stop {}
                entry.rendition.close()
            }
        }
    }

    /// - Returns: when all threads that read have ended.
    func close() -> EventLoopFuture<Void> {
        isClosed = true
        timer?.cancel()
        timer = nil
        let ends = running.values.map { entry in
            let end = main.eventLoop.makePromise(of: Void.self)
            entry.stop { end.succeed() }
            entry.rendition.close()
            return end.futureResult
        }
        running = [:]
        main.close()
        return EventLoopFuture.andAllComplete(ends, on: main.eventLoop)
    }
}
