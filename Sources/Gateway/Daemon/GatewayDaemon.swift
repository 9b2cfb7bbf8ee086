package import GatewayAPI

/// The daemon that the gateway is a part of.
package protocol GatewayDaemon: Sendable {
    func status() async throws -> StatusResponse
    /// Registers the daemon's account with its hub again, and says what came of it.
    func register() async throws -> LinkState
    func unregister() async throws -> LinkState
    /// What the gateway counts.
    func metrics() async throws -> [MetricSample]
    /// Takes the configuration over as it is now.
    func reload() async throws -> ReloadResponse
}
