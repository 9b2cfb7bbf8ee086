import GatewayAPI
import IoTCore
import MediaChannel
import MediaPlayer
import NIOCore

struct CallerChannels: GatewayChannels {
    let session: CallerSession

    func open(_ request: ChannelRequest) async throws -> ChannelDescription {
        guard let kind = request.channelKind else {
            let kinds = ChannelKind.allCases.map(\.name).joined(separator: ", ")
            throw IoTError(.invalidRequest, "kind: \(request.kind) is not supported; use one of \(kinds)")
        }
        guard kind == .live || request.camera == nil else {
            throw IoTError(.invalidRequest, "camera: only a live channel shows one", remedy: "set kind to live")
        }
        let entry = try await session.viewable(request.device)
        if kind == .live { try session.requireTalk(entry) }
        if kind == .playback { try session.requirePlayback(entry) }
        if kind == .playback, request.definition != nil { try PlayerCapabilities(of: kind).require(.definition) }
        if kind == .transmission {
            try session.requireControl(entry)
            if request.definition != nil { try PlayerCapabilities(of: kind).require(.definition) }
        }
        let own = try await ownCamera(request.camera)
        let part = try session.take(.channelUses)
        let use = try await session.open(
            entry, kind, source: request.source,
            definition: session.gateway.definition(request.definition, kind, request.source), own: own)
        await session.gateway.uses.add(use.id, owner: session.caller.account, part)
        return await session.gateway.describe(use)
    }

    func list(_ page: PageRequest) async throws -> Page<ChannelDescription> {
        Page(of: await all(), page, by: \.id)
    }

    /// The caller's channels to devices in the token's scope.
    func all() async -> [ChannelDescription] {
        let own = await session.gateway.uses.ids(of: session.caller.account)
        var descriptions: [ChannelDescription] = []
        for use in await session.gateway.registry.all
        where own.contains(use.id) && session.caller.scope.includes(device: use.channel.device.rawValue) {
            descriptions.append(await session.gateway.describe(use))
        }
        return descriptions
    }

    func show(_ id: String) async throws -> ChannelDescription {
        await session.gateway.describe(try await use(id))
    }

    func play(_ id: String) async throws -> ChannelDescription {
        let use = try await use(id)
        try await use.play()
        return await session.gateway.describe(use)
    }

    func change(_ id: String, _ change: ChannelSettings) async throws -> ChannelDescription {
        let use = try await use(id)
        _ = try use.presentationSettings.changed(by: change)
        // Nothing is half done: a kind of channel has one of the two.
        let capabilities = PlayerCapabilities(of: use.channel.kind)
        if change.definition != nil { try capabilities.require(.definition) }
        if change.muted != nil || change.volume != nil { try capabilities.require(.mute) }
        if change.rotation != nil { try capabilities.require(.scaling) }
        if change.camera != nil {
            try capabilities.require(.twoWayVideo)
            try session.requireTalk(try await session.viewable(use.channel.device.rawValue))
        }
        if let definition = change.definition { try await use.change(definition: definition) }
        switch change.camera {
        case .camera(let name)?: try await use.show(try await ownCamera(name))
        case ChannelSettings.ShownCamera.none?: try await use.show(nil)
        case nil: break
        }
        use.present(try use.presentationSettings.changed(by: change))
        return await session.gateway.describe(use)
    }

    func close(_ id: String) async throws -> ChannelDescription {
        let use = try await use(id)
        var description = await session.gateway.describe(use)
        await session.gateway.uses.close(id)
        description.state = ChannelState(await use.describe().state)
        return description
    }

    func talk(_ id: String, _ sound: MediaInput) async throws -> TalkReport {
        let part = try session.take(.talks)
        let use = try await use(id)
        await session.gateway.uses.beginWork(id)
        let outcome: Result<TalkSummary, any Error>
        do {
            outcome = .success(try await SpokenInput(sound, session.lease).play { try await use.talk($0) })
        } catch {
            outcome = .failure(error)
        }
        await session.gateway.uses.endWork(id)
        withExtendedLifetime(part) {}
        let summary = try outcome.get()
        return TalkReport(
            duration: Double(summary.duration.nanoseconds) / 1e9, packets: summary.packets,
            underruns: summary.underruns)
    }

    func stopTalk(_ id: String) async throws -> ChannelDescription {
        let use = try await use(id)
        await use.stopTalk()
        return await session.gateway.describe(use)
    }

    func events(_ id: String) async throws -> AsyncStream<ChannelUpdate> {
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
        case .stageReached(let entry): .stage(StageDescription(entry))
        case .playback(let event): .played(event)
        case .warning(let error): .warning(APIError(error))
        case .ended: .end(await session.gateway.describe(use))
        }
    }

    // MARK: Media

    func snapshot(_ id: String, format: SnapshotFormat, fit: PictureFit?) async throws -> Picture {
        let use = try await use(id)
        let picture = try await use.snapshot(format == .png ? .png : .jpeg, fit: fit)
        return Picture(format: format, pts: picture.pts, bytes: picture.bytes)
    }

    func recording(_ id: String, frames: Int?) async throws -> MediaBody {
        let use = try await use(id)
        return await body(use, "video/mp4", try await use.record(frames: frames))
    }

    func rawVideo(_ id: String, frames: Int?, fit: PictureFit?) async throws -> MediaBody {
        let part = try session.take(.rawBodies)
        let use = try await use(id)
        return await body(use, "video/x-yuv4mpeg", try await use.rawVideo(frames: frames, fit: fit), part)
    }

    func rawAudio(_ id: String, frames: Int?) async throws -> MediaBody {
        let part = try session.take(.rawBodies)
        let use = try await use(id)
        return await body(use, "audio/wav", try await use.rawAudio(frames: frames), part)
    }

    func dump(_ id: String, _ part: DumpPart) async throws -> MediaBody {
        let quota = try session.take(part.isDecoded ? .rawBodies : .dumps)
        let use = try await use(id)
        let (sink, contentType) =
            switch part {
            case .receivedVideo, .receivedAudio: try await use.dump(.received, part.track)
            case .intoDecoderVideo, .intoDecoderAudio: try await use.dump(.intoDecoder, part.track)
            case .outOfDecoderVideo, .outOfDecoderAudio: try await use.dumpDecoded(part.track)
            }
        var body = await body(use, contentType, sink, quota)
        body.chunks = DumpChunks(
            base: sink.chunks, maximumSize: DumpPart.maximumSize,
            maximumDuration: .seconds(Int64(DumpPart.maximumDuration)))
        return body
    }

    func resource(_ name: String) async throws -> MediaBody {
        guard session.gateway.resources.owner(of: name) == session.caller.account else {
            throw IoTError(
                .notFound, "there is no such resource, or it is older than ten minutes", remedy: "take a new photo")
        }
        // The picture is not sent over the link, because the hub would see it.
        guard let picture = session.gateway.photos.picture(named: name, at: .now()) else {
            throw IoTError(
                .notFound, "the picture is older than ten minutes, or kept by the daemon that runs the camera",
                remedy: "`iotctl monitor ID --snapshot FILE` takes one over the encrypted channel")
        }
        try session.caller.require(device: picture.device.rawValue)
        // An account that has lost the device no longer gets its pictures.
        guard await session.gateway.rights.mayView(picture.device.rawValue, session.caller.account) else {
            throw IoTError(.relationInvalid, "this account may not view the device")
        }
        return MediaBody(contentType: "image/jpeg", bytes: picture.bytes)
    }

    // MARK: Helpers

    /// One of this gateway's cameras that the caller may view, to show it in a live channel.
    private func ownCamera(_ name: String?) async throws -> OwnCamera? {
        guard let name else { return nil }
        let entry = try await session.viewable(name)
        guard let camera = await session.gateway.fleet.cameras().first(where: { $0.device.rawValue == entry.id }) else {
            throw IoTError(
                .operationNotAllowed, "'\(entry.name)' is not a camera of this gateway",
                remedy: "choose a camera of this machine: `iotctl camera list`")
        }
        let own = OwnCamera(camera, account: session.accountName, isOwner: entry.isOwner)
        // Ends what is shown if the account may no longer view the camera.
        let right = session.gateway.leases.begin(session.caller) { [weak own] in
            own?.revoke(IoTError(.relationInvalid, "the account may no longer show this camera"))
        }
        right.needs(device: entry.id)
        own.keep(right)
        return own
    }

    /// A channel of the caller's account. Channels of other accounts are reported as not found.
    func use(_ id: String) async throws -> ChannelRegistry.Use {
        guard await session.gateway.uses.owner(of: id) == session.caller.account else {
            throw IoTError(.notFound, "there is no channel \(id)", remedy: "open a new one")
        }
        await session.gateway.uses.touch(id)
        let use = try await session.gateway.registry.use(id)
        try session.caller.require(device: use.channel.device.rawValue)
        session.lease.needs(
            device: use.channel.device.rawValue, use.channel.kind == .playback ? .playback : .view)
        return use
    }

    private func body(
        _ use: ChannelRegistry.Use, _ contentType: String, _ sink: MediaSink, _ part: QuotaPart? = nil
    ) async -> MediaBody {
        await session.gateway.uses.add(sink, to: use.id)
        var body = MediaBody(contentType: contentType, chunks: sink.chunks, framesDropped: { sink.framesDropped })
        body.part = part
        return body
    }
}
