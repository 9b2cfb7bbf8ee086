import GatewayAPI
import IoTCore

@testable import Gateway

struct ScriptedDaemon: GatewayDaemon {
    let session: ScriptedSession

    func status() async throws -> StatusResponse {
        try session.note()
        return StatusResponse(
            uptime: 1, link: LinkState(.online, cause: "connected", reason: nil, since: 0, accessId: "owner"),
            hub: HubState(enabled: false, ready: false, endpoint: nil), broker: nil, cameras: 0, channels: 0)
    }

    func register() async throws -> LinkState {
        try session.note()
        return LinkState(.online, cause: "connected", reason: nil, since: 0, accessId: "owner")
    }

    func unregister() async throws -> LinkState {
        try session.note()
        return LinkState(.unregistering, cause: "unregistered", reason: nil, since: 0, accessId: "owner")
    }

    func metrics() async throws -> [MetricSample] {
        try session.note()
        return [MetricSample("a", .gauge, 1)]
    }

    func reload() async throws -> ReloadResponse {
        try session.note()
        return ReloadResponse()
    }

    func logs(_ query: LogQuery) async throws -> MediaBody {
        try session.note()
        throw IoTError(.notFound)
    }
}
