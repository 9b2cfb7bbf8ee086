import GatewayAPI
import IoTCore
import MediaChannel
import NIOCore

extension LocalGateway {
    func openChannel(_ request: ChannelRequest) async throws -> ChannelDescription {
        guard request.channelKind == .monitor else {
            throw IoTError(.invalidRequest, "kind: \(request.kind) is not offered; ask for monitor")
        }
        guard (0...255).contains(request.source) else {
            throw IoTError(.invalidRequest, "source: must be 0 to 255")
        }
        let device = try await find(request.device)
        let use = try await registry.open(device: device.id, deviceName: device.name, source: request.source)
        await uses.touch(use.id)
        return await describe(use)
    }

    func channels() async throws -> [ChannelDescription] {
        var descriptions: [ChannelDescription] = []
        for use in await registry.all { descriptions.append(await describe(use)) }
        return descriptions
    }

    func channel(_ id: String) async throws -> ChannelDescription {
        await describe(try await use(id))
    }

    func play(_ id: String) async throws -> ChannelDescription {
        let use = try await use(id)
        try await use.channel.play()
        return await describe(use)
    }

    func closeChannel(_ id: String) async throws -> ChannelDescription {
        let use = try await use(id)
        var description = await describe(use)
        await uses.close(id)
        description.state = ChannelState(await use.channel.describe().state)
        return description
    }

    func channelEvents(_ id: String) async throws -> AsyncStream<ChannelUpdate> {
        let use = try await use(id)
        let source = await use.channel.events()
        return AsyncStream(unfolding: { [self] in
            for await event in source {
                if let update = await translate(event, use) { return update }
            }
            return nil
        })
    }

    private func translate(_ event: MonitorEvent, _ use: ChannelRegistry.Use) async -> ChannelUpdate? {
        switch event {
        case .stateChanged(let state): .state(ChannelState(state))
        case .statistics(let description): .statistics(StatisticsReport(description))
        case .discontinuity(.audio, _, _, _): nil
        case .discontinuity(.video, let reason, let pts, let video):
            .discontinuity(
                ChannelDiscontinuity(
                    reason: reason == .sizeChanged ? .size : .clock, pts: pts, width: video?.width,
                    height: video?.height))
        case .warning(let error): .warning(APIError(error))
        case .ended: .end(await describe(use))
        }
    }

    func snapshot(_ id: String, format: SnapshotFormat) async throws -> Snapshot {
        let use = try await use(id)
        let picture = try await use.channel.snapshot(format == .png ? .png : .jpeg)
        return Snapshot(format: format, pts: picture.pts, bytes: picture.bytes)
    }

    func recording(_ id: String) async throws -> MediaBody {
        let use = try await use(id)
        return await body(use, "video/mp4", try await use.channel.record())
    }

    func rawVideo(_ id: String, frames: Int?) async throws -> MediaBody {
        let use = try await use(id)
        return await body(use, "video/x-yuv4mpeg", try await use.channel.rawVideo(frames: frames))
    }

    func rawAudio(_ id: String) async throws -> MediaBody {
        let use = try await use(id)
        return await body(use, "audio/wav", try await use.channel.rawAudio())
    }

    // MARK: Inside

    private func use(_ id: String) async throws -> ChannelRegistry.Use {
        await uses.touch(id)
        return try await registry.use(id)
    }

    private func body(_ use: ChannelRegistry.Use, _ contentType: String, _ sink: MediaSink) async -> MediaBody {
        await uses.add(sink, to: use.id)
        return MediaBody(contentType: contentType, chunks: sink.chunks)
    }

    private func describe(_ use: ChannelRegistry.Use) async -> ChannelDescription {
        let channel = await use.channel.describe()
        var tracks: [TrackDescription] = []
        if let video = channel.video { tracks.append(TrackDescription(.video(video))) }
        if let audio = channel.audio { tracks.append(TrackDescription(.audio(audio))) }
        return ChannelDescription(
            id: use.id, device: use.channel.device.rawValue, deviceName: use.deviceName, source: use.channel.source,
            kind: .monitor, state: ChannelState(channel.state), tracks: tracks,
            statistics: channel.statistics == nil ? nil : StatisticsReport(channel))
    }
}

extension ChannelState {
    init(_ state: MonitorState) {
        self.init(
            connection: state.connection, substate: state.substate, player: state.player, reason: state.reason)
    }
}
