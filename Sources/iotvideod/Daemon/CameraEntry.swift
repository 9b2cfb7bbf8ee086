import IoTCore
import Logging
import ServiceLifecycle

/// One camera that runs, and how to end it alone.
struct CameraEntry<Product: Service & Sendable>: Sendable {
    /// As it was opened, the secret in its URL: a changed password is a changed camera.
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

    /// Until `stop`, or until the daemon stops.
    func run() async {
        do {
            try await group.run()
        } catch {
            logger.error("the camera ended: \(error)")
        }
        ended.settle(.success(()))
    }

    /// Says goodbye to the hub and the viewers, and returns when that is done. `run` must have been or be called.
    func stop() async {
        await group.triggerGracefulShutdown()
        try? await ended.wait()
    }
}
