import Gateway
import ServiceLifecycle
import UnixSignals

/// Reloads the configuration at each SIGHUP.
struct ReloadOnSignal: Service {
    let fleet: any CameraFleet

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        await cancelWhenGracefulShutdown {
            // Several signals during one reload cause one more reload, because a reload reads the file when it begins.
            for await _ in signals { _ = try? await fleet.reloadConfiguration() }
        }
    }
}
