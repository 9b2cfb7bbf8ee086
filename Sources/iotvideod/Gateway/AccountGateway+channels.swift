import GatewayAPI
import IoTCore
import MediaChannel
import MediaPlayer
import NIOCore

extension AccountGateway {
    func openChannel(_ request: ChannelRequest) async throws -> ChannelDescription {
        guard request.channelKind == .monitor else {
            throw IoTError(.invalidRequest, "kind: \(request.kind) is not offered; ask for monitor")
        }
        guard (0...255).contains(request.source) else {
            throw IoTError(.invalidRequest, "source: must be 0 to 255")
        }
        let entry = try await viewable(request.device)
        let part = try take(.channelUses)
        let use = try await open(entry, source: request.source)
        await shared.uses.add(use.id, owner: caller.account, part)
        return await shared.describe(use)
    }

    /// A device that the account may view.
    func viewable(_ device: String) async throws -> AccountRights.Entry {
        let entry = try await find(device)
        guard entry.actions.contains(.view) else {
            throw IoTError(.relationInvalid, "this account may not view the device")
        }
        return entry
    }

    func open(_ entry: AccountRights.Entry, source: Int) async throws -> ChannelRegistry.Use {
        guard let device = DeviceID(rawValue: entry.id) else { throw IoTError(.targetNotFound) }
        return try await shared.registry.open(
            device: device, deviceName: entry.name, source: source, as: principal
        ) { () throws(IoTError) in try take(.channels) }
    }

    func channels(_ page: PageRequest) async throws -> Page<ChannelDescription> {
        Page(of: await channels(), page, by: \.id)
    }

    func channels() async -> [ChannelDescription] {
        let own = await shared.uses.ids(of: caller.account)
        var descriptions: [ChannelDescription] = []
        for use in await shared.registry.all
        where own.contains(use.id) && caller.scope.includes(device: use.channel.device.rawValue) {
            descriptions.append(await shared.describe(use))
        }
        return descriptions
    }

    func channel(_ id: String) async throws -> ChannelDescription {
        await shared.describe(try await use(id))
    }

    func play(_ id: String) async throws -> ChannelDescription {
        let use = try await use(id)
        try await use.play()
        return await shared.describe(use)
    }

    func closeChannel(_ id: String) async throws -> ChannelDescription {
        let use = try await use(id)
        var description = await shared.describe(use)
        await shared.uses.close(id)
        description.state = ChannelState(await use.describe().state)
        return description
    }

    func channelEvents(_ id: String) async throws -> AsyncStream<ChannelUpdate> {
        let use = try await use(id)
        let source = await use.events()
        return AsyncStream(unfolding: {
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
        case .ended: .end(await shared.describe(use))
        }
    }

    // MARK: Media

    func snapshot(_ id: String, format: SnapshotFormat) async throws -> Snapshot {
        let use = try await use(id)
        let picture = try await use.channel.snapshot(format == .png ? .png : .jpeg)
        return Snapshot(format: format, pts: picture.pts, bytes: picture.bytes)
    }

    func recording(_ id: String, frames: Int?) async throws -> MediaBody {
        let use = try await use(id)
        return await body(use, "video/mp4", try await use.record(frames: frames))
    }

    func rawVideo(_ id: String, frames: Int?) async throws -> MediaBody {
        let use = try await use(id)
        return await body(use, "video/x-yuv4mpeg", try await use.rawVideo(frames: frames))
    }

    func rawAudio(_ id: String, frames: Int?) async throws -> MediaBody {
        let use = try await use(id)
        return await body(use, "audio/wav", try await use.rawAudio(frames: frames))
    }

    func resource(_ token: String) async throws -> MediaBody {
        guard shared.resources.owner(of: token) == caller.account else {
            throw IoTError(
                .notFound, "there is no such resource, or it is older than ten minutes", remedy: "take a new photo")
        }
        // A picture does not cross the link, where the hub would see it.
        guard let picture = shared.photos.picture(named: token, at: .now()) else {
            throw IoTError(
                .notFound, "the picture is older than ten minutes, or kept by the daemon that runs the camera",
                remedy: "`iotctl monitor ID --snapshot FILE` takes one over the encrypted channel")
        }
        try caller.require(device: picture.device.rawValue)
        // Who lost the device meanwhile gets no picture of it any more.
        guard await shared.rights.mayView(picture.device.rawValue, caller.account) else {
            throw IoTError(.relationInvalid, "this account may not view the device")
        }
        return MediaBody(contentType: "image/jpeg", bytes: picture.bytes)
    }

    // MARK: Inside

    /// A channel of the caller's account; another's does not exist.
    private func use(_ id: String) async throws -> ChannelRegistry.Use {
        guard await shared.uses.owner(of: id) == caller.account else {
            throw IoTError(.notFound, "there is no channel \(id)", remedy: "open a new one")
        }
        await shared.uses.touch(id)
        let use = try await shared.registry.use(id)
        try caller.require(device: use.channel.device.rawValue)
        lease.needs(device: use.channel.device.rawValue)
        return use
    }

    private func body(_ use: ChannelRegistry.Use, _ contentType: String, _ sink: MediaSink) async -> MediaBody {
        await shared.uses.add(sink, to: use.id)
        return MediaBody(contentType: contentType, chunks: sink.chunks, framesDropped: { sink.framesDropped })
    }
}
