package import IoTCore

/// The gateway behind every door, before it is known who asks.
package protocol GatewayService: Sendable {
    /// The account whose link this is; who may open the Unix socket acts as it.
    var account: AccessID { get }

    var tokens: BearerTokens { get }
    var leases: Leases { get }
    var quotas: Quotas { get }

    /// The gateway as the lease's caller may use it; what goes on longer holds the lease.
    func session(for lease: Lease) -> any GatewaySession

    /// Why it does not serve now; empty when it does.
    func obstacles() async -> [IoTError]

    /// Gathers events until it is cancelled.
    func run() async

    /// Ends every open body and event stream in order, as `GatewayChannels.close` does; the daemon is stopping.
    func prepareToStop() async
}
