import IoTCore

/// The gateway behind the HTTP API, before it is known who asks.
protocol GatewayService: Sendable {
    /// The account whose link this is; who may open the Unix socket acts as it.
    var account: AccessID { get }

    /// The gateway as this caller may use it.
    func gateway(for caller: Caller) -> any Gateway

    /// What the hub says of an API token.
    ///
    /// - Throws: 25004 for one that is not good.
    func check(token: String) async throws -> TokenGrant

    /// Why it does not serve now; empty when it does.
    func obstacles() async -> [IoTError]

    /// What `GET /metrics` tells beside what is counted in `MetricsRegistry`.
    func metrics() async -> [MetricSample]

    /// Gathers events until it is cancelled.
    func run() async

    /// Ends every open body and event stream in order, as `closeChannel` does; the daemon is stopping.
    func prepareToStop() async
}
