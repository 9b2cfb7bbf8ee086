import Gateway
import ServiceLifecycle

/// Closes the channels that nobody uses any more.
struct ChannelSweep: Service {
    let uses: ChannelUses

    func run() async throws {
        await cancelWhenGracefulShutdown { await uses.sweep() }
    }
}
