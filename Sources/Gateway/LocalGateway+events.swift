import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import ThingModel

/// Collects the events for `GatewayEvents.follow`, and runs the gateway's background tasks.
extension LocalGateway {
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.readStatus() }
            group.addTask { await self.readPushes() }
            group.addTask { await self.watchChannels() }
            group.addTask { await self.leases.run() }
            group.addTask { await self.readTokenKeys() }
            group.addTask { await self.forgetLostCalls() }
            if let notices {
                group.addTask { await notices.run(self.feed) { await self.nameForNotice($0, $1) } }
            }
        }
    }

    private func readStatus() async {
        for await change in link.statusChanges() {
            feed.publish(.link(linkState(change)), to: .everyone)
            // Pushes may have been lost.
            if change.status == .online { await rights.invalidate() }
        }
    }

    /// Requests the hub's keys each time the link goes online, because they can change only when the hub restarts.
    private func readTokenKeys() async {
        for await change in link.statusChanges() where change.status == .online {
            let hub = HubClient(link: link, account: nil)
            while !Task.isCancelled, link.current.status == .online {
                // Until the keys arrive, the hub is asked about each token.
                tokens.use(nil)
                do {
                    tokens.use(try await hub.tokenKeys())
                    break
                } catch {
                    try? await Task.sleep(for: .seconds(1))
                }
            }
        }
    }

    private func forgetLostCalls() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(60))
            await relayed.forgetLost()
        }
    }

    private func readPushes() async {
        for await push in link.pushes() {
            guard let event = GatewayEvent(push) else { continue }
            switch event {
            case .binding:
                await rights.invalidate()
                feed.publish(event, to: .account(account))
            default:
                if let device = event.device { feed.publish(event, to: .viewers(device: device)) }
            }
        }
    }

    /// Observes the channels once a second: publishes changes and adds up statistics.
    private func watchChannels() async {
        var watch = ChannelWatch()
        while !Task.isCancelled {
            var seen: [ChannelWatch.Observation] = []
            for use in await registry.all {
                guard let owner = await uses.owner(of: use.id) else { continue }
                seen.append(
                    ChannelWatch.Observation(
                        owner: owner, channel: ObjectIdentifier(use.channel), description: await describe(use),
                        statistics: StatisticsReport(await use.channel.describe())))
            }
            for (owner, change) in watch.observe(seen) { feed.publish(.channel(change), to: .account(owner)) }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    func describe(_ use: ChannelRegistry.Use) async -> ChannelDescription {
        let channel = await use.describe()
        var tracks: [TrackDescription] = []
        if let video = channel.video { tracks.append(TrackDescription(.video(video))) }
        if let audio = channel.audio { tracks.append(TrackDescription(.audio(audio))) }
        var description = ChannelDescription(
            id: use.id, device: use.channel.device.rawValue, deviceName: use.deviceName, source: use.channel.source,
            kind: use.channel.kind, state: ChannelState(channel.state), tracks: tracks,
            statistics: channel.statistics == nil ? nil : StatisticsReport(channel),
            talk: TalkState(offered: channel.talk.isOffered, talking: channel.talk.isTalking),
            definition: channel.definitions.current, definitions: channel.definitions.all,
            camera: channel.ownCamera, keySource: channel.keySource)
        description.take(use.presentationSettings)
        description.playback = channel.playback.map { PlaybackState($0) }
        description.number = use.channel.number
        if channel.rings { description.rings = true }
        description.stages = channel.stages.map { StageDescription($0) }
        return description
    }
}

extension ChannelState {
    init(_ state: MonitorState) {
        self.init(
            connection: state.connection, substate: state.substate, player: state.player, reason: state.reason)
    }
}
