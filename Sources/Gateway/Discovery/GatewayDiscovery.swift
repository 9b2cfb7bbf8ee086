package import GatewayAPI

/// Finds the devices on the networks of this machine.
package protocol GatewayDiscovery: Sendable {
    /// Searches for the time in the request.
    ///
    /// - Throws: 25024 while another search runs.
    func search(_ request: DiscoveryRequest) async throws -> DiscoveryReport

    /// Requests a camera's streams.
    ///
    /// - Throws: 25010, 25041, 25040, 25011.
    func ask(_ request: ONVIFRequest) async throws -> ONVIFReport
}
