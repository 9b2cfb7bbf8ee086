import Gateway
import ServiceLifecycle

/// Closes channels that are no longer used.
struct ChannelSweep: Service {
    let uses: ChannelUses

    func run() async throws {
        await cancelWhenGracefulShutdown { await uses.sweep() }
    }
}
