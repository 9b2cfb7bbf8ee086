import Gateway
import ServiceLifecycle
import UnixSignals

/// Reads the configuration again at each SIGHUP.
struct ReloadOnSignal: Service {
    let fleet: any CameraFleet

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        await cancelWhenGracefulShutdown {
            // Several signals during one reload are one more: the configuration is read when it begins.
            for await _ in signals { _ = try? await fleet.reloadConfiguration() }
        }
    }
}
