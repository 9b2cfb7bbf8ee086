package import IoTCore

/// The gateway as the servers see it before the caller is known.
package protocol GatewayService: Sendable {
    /// The account of this link. Callers on the Unix socket act as this account.
    var account: AccessID { get }

    var tokens: BearerTokens { get }
    var leases: Leases { get }
    var quotas: Quotas { get }

    /// The gateway as the lease's caller may use it. Long operations hold the lease.
    func session(for lease: Lease) -> any GatewaySession

    /// Why the gateway cannot serve now; empty if it can.
    func obstacles() async -> [IoTError]

    /// Collects events until cancelled.
    func run() async

    /// Ends every open body and event stream in order, like `GatewayChannels.close`, because the daemon stops.
    func prepareToStop() async
}
