import Gateway
import ServiceLifecycle

/// Runs the gateway's connections to devices on its network.
struct LANService: Service {
    let link: LANGatewayLink

    func run() async throws {
        await cancelWhenGracefulShutdown { await link.run() }
    }
}
