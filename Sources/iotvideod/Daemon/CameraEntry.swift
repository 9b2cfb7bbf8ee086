import IoTCore
import Logging
import ServiceLifecycle

/// One running camera, which can be stopped separately.
struct CameraEntry<Product: Service & Sendable>: Sendable {
    /// The settings with which it was opened, including the secret in the URL: a new password makes it a changed
    /// camera.
    let settings: CameraSettings
    let product: Product
    private let group: ServiceGroup
    private let ended = Readiness<Void>()
    private let logger: Logger

    init(settings: CameraSettings, product: Product, logger: Logger) {
        self.settings = settings
        self.product = product
        self.logger = logger
        group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: product, successTerminationBehavior: .gracefullyShutdownGroup)],
                logger: logger))
    }

    /// Runs until `stop` is called or the daemon stops.
    func run() async {
        do {
            try await group.run()
        } catch {
            logger.error("the camera ended: \(error)")
        }
        ended.settle(.success(()))
    }

    /// Signs off from the hub and the viewers, and returns when that is done. `run` must have been called, or be called
    /// later.
    func stop() async {
        await group.triggerGracefulShutdown()
        try? await ended.wait()
    }
}
