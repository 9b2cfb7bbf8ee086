import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import ThingModel

struct CallerDaemon: GatewayDaemon {
    let session: CallerSession

    func status() async throws -> StatusResponse {
        let gateway = session.gateway
        let calls = gateway.relayed.all.count { $0.account == session.principal }
        return await gateway.status(
            channels: await CallerChannels(session: session).all().count, calls: calls,
            isAdministrator: session.caller.isAdministrator)
    }

    func register() async throws -> LinkState {
        session.gateway.link.register()
        return await outcome { ![.registering, .unregistering, .kickOff].contains($0.status) }
    }

    func unregister() async throws -> LinkState {
        session.gateway.link.unregister()
        return await outcome { $0.status == .unregistering }
    }

    /// The link's first state that satisfies `isSettled`, or its state after 5 s.
    private func outcome(_ isSettled: @escaping @Sendable (LinkStatusChange) -> Bool) async -> LinkState {
        let link = session.gateway.link
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await change in link.statusChanges() where isSettled(change) { return } }
            group.addTask { try? await Task.sleep(for: .seconds(5)) }
            await group.next()
            group.cancelAll()
        }
        return session.gateway.linkState(link.current)
    }

    func metrics() async throws -> [MetricSample] {
        await session.gateway.metrics()
    }

    func reload() async throws -> ReloadResponse {
        let change = try await session.gateway.fleet.reloadConfiguration()
        await session.gateway.rights.invalidate()
        return change
    }

    func logs(_ query: LogQuery) async throws -> MediaBody {
        var query = query
        if case .id(let id) = query.channel, let use = try? await session.gateway.registry.use(id) {
            query.channel = .number(use.channel.number)
        }
        return LogBody(session.gateway.log, query, lease: session.lease).body(try session.take(.logs))
    }
}
