import IoTCore
import MediaChannel

/// The channels over which this gateway reads the recordings of other boxes' cameras: one for each account and device,
/// closed like every channel of the API that nobody has used for `channels.idleTimeout`.
package actor PlaybackChannels {
    private struct Key: Hashable {
        let account: AccessID
        let device: String
    }

    private var known: [Key: String] = [:]

    package init() {}

    /// The open channel, or a new one.
    func use(_ session: CallerSession, _ entry: AccountRights.Entry) async throws -> ChannelRegistry.Use {
        let key = Key(account: session.caller.account, device: entry.id)
        if let id = known[key], let use = await open(id, session) { return use }
        let part = try session.take(.channelUses)
        let use = try await session.open(entry, .playback, source: .main)
        await session.gateway.uses.add(use.id, owner: key.account, part)
        for (other, id) in known where await session.gateway.uses.owner(of: id) == nil { known[other] = nil }
        known[key] = use.id
        return use
    }

    private func open(_ id: String, _ session: CallerSession) async -> ChannelRegistry.Use? {
        guard await session.gateway.uses.owner(of: id) == session.caller.account,
            let use = try? await session.gateway.registry.use(id),
            await use.describe().state.connection == .connected
        else { return nil }
        await session.gateway.uses.touch(id)
        return use
    }
}
