package import GatewayAPI

/// The daemon that contains the gateway.
package protocol GatewayDaemon: Sendable {
    func status() async throws -> StatusResponse
    /// Registers the daemon's account with its hub again and returns the resulting state.
    func register() async throws -> LinkState
    func unregister() async throws -> LinkState
    /// The gateway's metrics.
    func metrics() async throws -> [MetricSample]
    /// Reloads the configuration.
    func reload() async throws -> ReloadResponse
    /// The log, as server-sent events.
    func logs(_ query: LogQuery) async throws -> MediaBody
}
