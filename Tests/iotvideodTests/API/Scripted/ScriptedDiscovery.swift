import GatewayAPI

@testable import Gateway

struct ScriptedDiscovery: GatewayDiscovery {
    let session: ScriptedSession

    /// A search with this `timeoutMilliseconds` lasts until it is cancelled.
    static let endless = 29_999

    func search(_ request: DiscoveryRequest) async throws -> DiscoveryReport {
        try session.note()
        if request.timeoutMilliseconds == Self.endless { try await session.waitForCancellation() }
        return DiscoveryReport(devices: [], interfaces: [])
    }

    func ask(_ request: ONVIFRequest) async throws -> ONVIFReport {
        try session.note()
        return ONVIFReport(main: ONVIFReport.Stream(url: "rtsp://192.0.2.9/", name: "main"))
    }
}
