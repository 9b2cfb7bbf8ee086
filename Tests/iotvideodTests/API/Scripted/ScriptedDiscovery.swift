import GatewayAPI

@testable import Gateway

struct ScriptedDiscovery: GatewayDiscovery {
    let session: ScriptedSession

    func search(_ request: DiscoveryRequest) async throws -> DiscoveryReport {
        try session.note()
        return DiscoveryReport(devices: [], interfaces: [])
    }

    func ask(_ request: ONVIFRequest) async throws -> ONVIFReport {
        try session.note()
        return ONVIFReport(main: ONVIFReport.Stream(url: "rtsp://192.0.2.9/", name: "main"))
    }
}
