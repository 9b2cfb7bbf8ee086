import AsyncHTTPClient
import Foundation
import GatewayAPI
import IoTCore
import NIOCore
import NIOHTTP1

/// One run of `iotctl monitor`, `iotctl live` or `iotctl playback`: opens the channel, then every body, then plays; then
/// ends all parts in order and makes the summary.
struct MonitorSession: Sendable {
    /// The time limit for bodies to end after the channel's end.
    private static let drainLimit = Duration.seconds(5)

    let client: GatewayClient
    let plan: MonitorPlan
    private let view = MonitorView()

    init(client: GatewayClient, plan: MonitorPlan) {
        self.client = client
        self.plan = plan
    }

    func run() async throws -> MonitorSummary {
        let sound = try plan.talk.map { try FileChunks(path: $0) }
        let request = ChannelRequest(
            device: plan.device, source: plan.source, kind: plan.kind, definition: plan.definition, camera: plan.camera)
        let channel: ChannelDescription = try await client.call(
            .POST, APIPath("v1", "channels"), body: try APICoding.encode(request))
        do {
            if channel.rings == true { try RingingNotice(channel).show(plan) }
            if !plan.settings.isEmpty {
                let _: ChannelDescription = try await client.call(
                    .PATCH, APIPath("v1", "channels", channel.id), body: try APICoding.encode(plan.settings))
            }
            if let playback = plan.playback {
                let _: ChannelDescription = try await client.call(
                    .PATCH, APIPath("v1", "channels", channel.id, "playback"), body: try APICoding.encode(playback))
            }
            return try await watch(channel, sound)
        } catch {
            _ = try? await close(channel)
            throw error
        }
    }

    private func close(_ channel: ChannelDescription) async throws -> ChannelDescription {
        try await client.call(.DELETE, APIPath("v1", "channels", channel.id), body: nil, timeout: .seconds(10))
    }

    private func watch(_ channel: ChannelDescription, _ sound: FileChunks?) async throws -> MonitorSummary {
        // All streams are open before the first frame.
        let updates = try await client.open(APIPath("v1", "channels", channel.id, "events"))
        let sinks = try await openSinks(channel)
        // Each task yields once or twice, so the number of tasks bounds this buffer.
        let (events, source) = AsyncStream.makeStream(of: MonitorEvent.self)
        let interruption = Interruption { _ in source.yield(.interrupted) }
        defer { interruption.cancel() }

        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await follow(updates, channel, source) }
            for sink in sinks {
                group.addTask { await copy(sink, source) }
            }
            if let target = plan.snapshot {
                group.addTask { await takeSnapshot(target, channel, source) }
            }
            let _: ChannelDescription = try await client.call(
                .POST, APIPath("v1", "channels", channel.id, "play"), body: nil)
            if let sound {
                group.addTask { await talk(sound, channel, source) }
            }
            if let duration = plan.duration {
                group.addTask {
                    try await Task.sleep(for: duration)
                    source.yield(.timeIsUp)
                }
            }
            var outcome = MonitorOutcome(plan: plan, sinks: sinks.map(\.kind))
            var iterator = events.makeAsyncIterator()
            while let event = await iterator.next(), !outcome.take(event) {}
            // After closing, every body delivers its complete frames and ends.
            let final = try? await close(channel)
            group.addTask {
                try await Task.sleep(for: Self.drainLimit)
                source.yield(.drainLimitReached)
            }
            while !outcome.isFinished, let event = await iterator.next() { _ = outcome.take(event) }
            outcome.finish()
            group.cancelAll()
            if Console.isTerminal, !plan.printsJSON { Console.redraw("") }
            if let failure = view.failure ?? outcome.failure { throw failure }
            return summary(final ?? view.contents.final ?? channel, sinks, outcome)
        }
    }

    private func summary(
        _ channel: ChannelDescription, _ sinks: [MonitorSink], _ outcome: MonitorOutcome
    ) -> MonitorSummary {
        var channel = channel
        channel.statistics = channel.statistics ?? view.contents.statistics
        let files = sinks.map { sink in
            let dropped = channel.statistics?.sinks?.first { $0.kind == sink.kind.rawValue }?.framesDropped ?? 0
            return MonitorSummary.File(
                kind: sink.kind.rawValue, path: sink.output.name, bytes: sink.output.size,
                framesDropped: dropped > 0 ? dropped : nil)
        }
        let unreadable = view.contents.unreadable
        return MonitorSummary(
            channel: channel, files: files + (outcome.snapshot.map { [$0] } ?? []),
            unreadable: unreadable.isEmpty ? nil : unreadable)
    }

    private func openSinks(_ channel: ChannelDescription) async throws -> [MonitorSink] {
        var sinks: [MonitorSink] = []
        let wanted: [(MonitorSink.Kind, String?)] = [
            (.recording, plan.record), (.rawVideo, plan.rawVideo), (.rawAudio, plan.rawAudio),
        ]
        for (kind, path) in wanted {
            guard let path else { continue }
            sinks.append(
                try await MonitorSink.open(
                    kind, channel: channel.id, plan: plan, path: path, client: client))
        }
        if let dump = plan.dump {
            try DumpDirectory.create(dump)
            for part in DumpPart.allCases {
                guard let track = channel.tracks.first(where: { $0.kind == part.track }) else { continue }
                let path = dump + "/" + part.fileName(codec: track.codec)
                sinks.append(
                    try await MonitorSink.open(
                        MonitorSink.Kind(part), channel: channel.id, plan: plan, path: path, client: client))
            }
        }
        return sinks
    }

    // MARK: Concurrent tasks

    private func follow(
        _ updates: HTTPClientResponse.Body, _ channel: ChannelDescription,
        _ source: AsyncStream<MonitorEvent>.Continuation
    ) async {
        do {
            var hasEnoughFrames = false
            try await client.forEachEvent(updates) { event in
                guard let update = try ChannelUpdate(event) else { return true }
                view.receive(update)
                try show(update, channel)
                let shown = view.contents.statistics?.video?.framesShown ?? 0
                if let frames = plan.frames, !plan.countsInDaemon, shown >= frames, !hasEnoughFrames {
                    hasEnoughFrames = true
                    source.yield(.framesShown)
                }
                if case .playback(let report) = update, report.event == .finished {
                    source.yield(.playbackFinished(report.error?.error))
                }
                if case .end = update { return false }
                return true
            }
            source.yield(.channelEnded)
        } catch let error as IoTError {
            source.yield(.failed(error))
            source.yield(.channelEnded)
        } catch {
            // Cancelled, or standard output is closed. In that case printing the summary fails, too.
            source.yield(.channelEnded)
        }
    }

    private func show(_ update: ChannelUpdate, _ channel: ChannelDescription) throws {
        if plan.printsStatistics, case .statistics(let report) = update {
            try print(plan.printsJSON ? json(report) : MonitorProgress.line(view.contents, tracks: channel.tracks))
        } else if plan.printsReplay, case .replay(let report) = update {
            for line in plan.printsJSON ? [try json(report)] : report.items.map(Self.line) { try print(line) }
        } else if Console.isTerminal, !plan.printsJSON {
            Console.redraw(MonitorProgress.line(view.contents, tracks: channel.tracks))
        }
    }

    private func json(_ report: some Encodable) throws -> String {
        String(decoding: try APICoding.encode(report), as: UTF8.self)
    }

    private func print(_ line: String) throws {
        if plan.usesStandardOutput { Console.note(line) } else { try Console.print(line) }
    }

    /// `2026-11-24 20:00:05  ProReadonly.source  "ready"`
    private static func line(_ item: ReplayReport.Item) -> String {
        let value = (item.body ?? item.value)?.jsonText ?? ""
        return "\(Format.time(item.time))  \(item.topic ?? item.path ?? "")  \(value)"
    }

    private func copy(_ sink: MonitorSink, _ source: AsyncStream<MonitorEvent>.Continuation) async {
        do {
            try await sink.run()
        } catch let error as IoTError {
            // The events contain the reason why a body broke off or stayed empty.
            let isEffect = error.code == .channelDisconnected || error.code == .messageTimeout
            let reason = isEffect ? await reasonFromEvents() : nil
            source.yield(.failed(reason ?? error))
        } catch {
            source.yield(.failed(IoTError(.internalFailure, underlying: error)))
        }
        source.yield(.sinkEnded(sink.kind))
    }

    private func takeSnapshot(
        _ target: MonitorPlan.SnapshotTarget, _ channel: ChannelDescription,
        _ source: AsyncStream<MonitorEvent>.Continuation
    ) async {
        do {
            let path = APIPath(
                "v1", "channels", channel.id, "snapshot",
                query: ["format": target.format.rawValue, "size": plan.size, "scaling": plan.scaling?.rawValue])
            let (headers, bytes) = try await client.bytes(path, timeout: nil)
            let output = try await FileOutput.open(target.path)
            try await output.write(bytes)
            try await output.close()
            let pts = headers.first(name: APIHeader.pts).flatMap { Int64($0) }
            source.yield(.snapshotTaken(pts: pts, size: bytes.count))
        } catch let error as IoTError {
            source.yield(.failed(error))
        } catch is ReaderLeft {
            source.yield(.snapshotTaken(pts: nil, size: 0))
        } catch {}  // cancelled
    }

    /// Talks to the sound's end; the channel continues.
    private func talk(
        _ sound: FileChunks, _ channel: ChannelDescription, _ source: AsyncStream<MonitorEvent>.Continuation
    ) async {
        do {
            _ = try await client.upload(TalkReport.self, APIPath("v1", "channels", channel.id, "talk"), sound)
        } catch let error as IoTError where ![.hungUp, .notFound].contains(error.code) {
            source.yield(.failed(error))
        } catch {}  // cancelled, or the channel was closed, before the talk or during it
    }

    /// Events arrive on a separate connection, so the reason can come slightly later.
    private func reasonFromEvents() async -> IoTError? {
        for _ in 0..<20 {
            if let error = view.failure ?? view.contents.warning?.error { return error }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return nil
    }
}
