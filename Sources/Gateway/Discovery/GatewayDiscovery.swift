package import GatewayAPI

/// What is on the networks of this machine.
package protocol GatewayDiscovery: Sendable {
    /// Searches for as long as the request says.
    ///
    /// - Throws: 25024 while another search goes on.
    func search(_ request: DiscoveryRequest) async throws -> DiscoveryReport

    /// Asks a camera for its streams.
    ///
    /// - Throws: 25010, 25041, 25040, 25011; 25027 for a certificate that the request does not trust.
    func ask(_ request: ONVIFRequest) async throws -> ONVIFReport
}
