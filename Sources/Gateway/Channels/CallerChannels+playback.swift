import GatewayAPI
import IoTCore
import MediaChannel
import MediaPlayer
import RecordingStore

extension CallerChannels {
    func changePlayback(_ id: String, _ request: PlaybackRequest) async throws -> ChannelDescription {
        let strategy = try request.check()
        let use = try await playbackUse(id)
        if request.paused == true { try await use.channel.pausePlayback() }
        if let time = request.time {
            try await use.channel.seek(
                to: time * 1_000, until: request.end.map { $0 * 1_000 }, speed: request.speed, strategy: strategy)
        } else if let speed = request.speed {
            try await use.channel.setPlaybackSpeed(speed)
        }
        if request.paused == false { try await use.channel.resumePlayback() }
        return await session.gateway.describe(use)
    }

    func stepPlayback(_ id: String) async throws -> ChannelDescription {
        let use = try await playbackUse(id)
        try await use.channel.stepPlayback()
        return await session.gateway.describe(use)
    }

    private func playbackUse(_ id: String) async throws -> ChannelRegistry.Use {
        let use = try await use(id)
        try PlayerCapabilities(of: use.channel.kind).require(.seek)
        return use
    }
}

extension PlaybackRequest {
    /// Nothing is half done: a wrong member is found before the device is asked.
    ///
    /// - Throws: `valueInvalid` (422).
    fileprivate func check() throws(IoTError) -> PlaybackStrategy? {
        if let speed, !PlaybackSpeed.isValid(speed) {
            throw IoTError(.valueInvalid, "speed " + PlaybackSpeed.requirement)
        }
        guard time != nil || end == nil && strategy == nil else {
            throw IoTError(.valueInvalid, "end and strategy are only possible together with time")
        }
        if let time, let end, end <= time { throw IoTError(.valueInvalid, "time must be before end") }
        guard let strategy else { return nil }
        guard let known = PlaybackStrategy(rawValue: strategy) else {
            throw IoTError(.valueInvalid, "strategy " + PlaybackStrategy.requirement)
        }
        return known
    }
}

extension PlaybackState {
    init(_ progress: PlaybackProgress) {
        self.init(
            speed: progress.speed, paused: progress.isPaused, time: progress.time.map { $0 / 1_000 },
            finished: progress.isFinished)
    }
}

extension ChannelUpdate {
    /// What a playback channel's device reports.
    static func played(_ event: PlaybackEvent) -> ChannelUpdate {
        switch event {
        case .willBeginFile(let item): .playback(PlaybackReport(.willBeginFile, item))
        case .didEndFile(let item, let error): .playback(PlaybackReport(.didEndFile, item, error))
        case .gap(let times):
            .playback(
                PlaybackReport(event: .gap, start: times.lowerBound / 1_000, end: times.upperBound / 1_000))
        case .position(let time): .playback(PlaybackReport(event: .position, time: time / 1_000))
        case .finished(let error):
            .playback(PlaybackReport(event: .finished, error: error.map { APIError(IoTError($0)) }))
        case .replay(let mode, let items):
            .replay(ReplayReport(mode: ReplayReport.Mode(mode), items: items.map { ReplayReport.Item($0) }))
        }
    }
}

extension PlaybackReport {
    fileprivate init(_ event: Event, _ item: RecordedItem, _ error: ErrorCode? = nil) {
        self.init(
            event: event, recording: item.recording, start: item.times.lowerBound / 1_000,
            end: item.times.upperBound / 1_000, error: error.map { APIError(IoTError($0)) })
    }
}

extension ReplayReport.Mode {
    fileprivate init(_ mode: ReplayMode) {
        switch mode {
        case .overwrite: self = .overwrite
        case .append: self = .append
        }
    }
}

extension ReplayReport.Item {
    fileprivate init(_ item: ReplayItem) {
        self.init(time: item.time / 1_000)
        switch item.kind {
        case .event: (topic, body) = (item.name, item.value)
        case .property, .action: (path, value) = (item.name, item.value)
        }
    }
}

extension RecordedItem {
    /// The number as in the lists of recordings.
    var recording: String { SegmentID(rawValue: id).map { String($0.number) } ?? String(id) }
}
