import GatewayAPI
import IoTCore
import IoTLink
import Logging
import ServiceLifecycle

/// Owns the running cameras. Adds, changes and removes each without affecting the others.
actor CameraSupervisor<Product: Service & Sendable>: Service {
    /// Creates a camera and its device. The settings are those for opening the camera, with their secret.
    typealias Factory = @Sendable (CameraSettings) async throws -> Product

    struct Actions: Sendable {
        /// Reads the current configuration with the same checks as at a start.
        var read: @Sendable () throws(IoTError) -> Configuration
        var make: Factory
        /// Refuses a camera that a caller wants to add, or to change to these settings.
        var check: @Sendable (CameraSettings) throws(IoTError) -> Void = { _ in }
        /// Applies the keys that take effect immediately.
        var apply: @Sendable (Configuration) async -> Void
    }

    private let actions: Actions
    private let added: AddedCameras
    private let logger: Logger
    /// The running configuration. Its cameras are those that should run.
    private var configuration: Configuration
    private var entries: [String: CameraEntry<Product>] = [:]
    private var turns = TurnQueue()
    private let starts: AsyncStream<CameraEntry<Product>>
    private let start: AsyncStream<CameraEntry<Product>>.Continuation

    /// Far more cameras than a machine can serve. Further ones are refused.
    private static var limit: Int { 1024 }

    init(_ configuration: Configuration, actions: Actions, logger: Logger) {
        self.configuration = configuration
        self.actions = actions
        self.logger = logger
        added = AddedCameras(dataDirectory: configuration.dataDirectory)
        (starts, start) = AsyncStream.makeStream(
            of: CameraEntry<Product>.self, bufferingPolicy: .bufferingOldest(Self.limit))
    }

    /// Creates the cameras of the configuration. They start when `run` is called.
    ///
    /// - Throws: why a camera could not be created.
    func prepare() async throws(IoTError) {
        for camera in configuration.cameras { try await begin(try camera.openable()) }
    }

    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for await entry in starts { group.addTask { await entry.run() } }
            }
        } onGracefulShutdown: { [start] in
            start.finish()
        }
    }

    /// The running cameras, sorted by name.
    var products: [Product] {
        entries.sorted { $0.key < $1.key }.map(\.value.product)
    }

    func add(_ request: CameraRequest) async throws(IoTError) {
        let camera = try request.settings.checked()
        try await takeTurn()
        defer { turns.leave() }
        guard !configuration.cameras.contains(where: { $0.name == camera.name }) else {
            throw IoTError(.nameTaken, "a camera '\(camera.name)' already exists")
        }
        try actions.check(camera)
        let before = try added.load()
        // Written first: an acknowledged camera must survive a power failure.
        try added.save(before + [camera])
        do throws(IoTError) {
            try await begin(try camera.openable())
        } catch {
            try added.save(before)
            throw error
        }
        configuration.cameras.append(camera)
        logger.notice("camera added", metadata: ["camera": "\(camera.name)"])
    }

    func source(of camera: CameraRequest) throws(IoTError) -> CameraSettings {
        try camera.settings.checked().openable()
    }

    func source(of name: String, after change: CameraChange) throws(IoTError) -> CameraSettings {
        let cameras = try added.load()
        return try cameras[index(of: name, in: cameras)].applying(change).openable()
    }

    func change(_ name: String, _ change: CameraChange) async throws(IoTError) {
        try await takeTurn()
        defer { turns.leave() }
        let before = try added.load()
        let index = try index(of: name, in: before)
        var cameras = before
        cameras[index] = try before[index].applying(change)
        guard cameras[index] != before[index] || entries[name] == nil else { return }
        try actions.check(cameras[index])
        try added.save(cameras)
        do throws(IoTError) {
            try await begin(try cameras[index].openable())
        } catch {
            try added.save(before)
            // Start the previous camera again, if possible.
            if entries[name] == nil { try? await begin(try before[index].openable()) }
            throw error
        }
        configuration.cameras = configuration.cameras.map { $0.name == name ? cameras[index] : $0 }
        logger.notice("camera changed", metadata: ["camera": "\(name)"])
    }

    func remove(_ name: String) async throws(IoTError) {
        try await takeTurn()
        defer { turns.leave() }
        let cameras = try added.load()
        _ = try index(of: name, in: cameras)
        try added.save(cameras.filter { $0.name != name })
        configuration.cameras.removeAll { $0.name == name }
        await end(name)
        do {
            try CameraFiles.remove(name, configuration)
        } catch {
            logger.error("the files of a removed camera could not be removed: \(error)")
        }
        logger.notice("camera removed", metadata: ["camera": "\(name)"])
    }

    /// Replaces the camera's signing key, and starts the camera again with the new one.
    func replaceKey(of name: String) async throws(IoTError) -> CameraKeyDescription {
        try await takeTurn()
        defer { turns.leave() }
        guard let entry = entries[name] else {
            throw IoTError(
                .notFound, "no camera '\(name)' is running", remedy: "list the cameras with `iotctl camera list`")
        }
        let files = try CameraFiles(dataDirectory: configuration.dataDirectory, camera: name)
        let previous = try files.key().publicKey.fingerprint
        let fingerprint = try files.replaceKey().publicKey.fingerprint
        try await begin(entry.settings)
        logger.notice("the camera's signing key was replaced", metadata: ["camera": "\(name)"])
        return CameraKeyDescription(fingerprint: fingerprint, previous: previous)
    }

    /// Adopts the current configuration. An invalid one is refused as a whole.
    func reload() async throws(IoTError) -> ConfigurationChange {
        try await takeTurn()
        defer { turns.leave() }
        let new: Configuration
        var openable: [CameraSettings] = []
        do throws(IoTError) {
            new = try actions.read()
            for camera in new.cameras { openable.append(try camera.openable()) }
        } catch {
            logger.error("the new configuration was refused, and the old one stays in use: \(error.messageWithRemedy)")
            throw error
        }
        let plan = Reconfiguration(
            from: configuration, running: entries.mapValues(\.settings), to: new, openable: openable)
        configuration = plan.configuration
        await actions.apply(configuration)
        for name in plan.ends { await end(name) }
        var failures: [IoTError] = []
        for camera in plan.begins {
            do throws(IoTError) {
                try await begin(camera)
            } catch {
                failures.append(error.withMessage("\(camera.name): \(error.message)"))
            }
        }
        logger.notice("the configuration was reloaded: \(plan.change)")
        if let first = failures.first {
            let text = failures.map(\.message).joined(separator: "; ")
            logger.error("the configuration was reloaded, but some cameras did not start: \(text)")
            throw first.withMessage("the configuration was reloaded, but some cameras did not start: \(text)")
        }
        return plan.change
    }

    // MARK: Helpers

    /// The index of an added camera in the list of added cameras.
    private func index(of name: String, in added: [CameraSettings]) throws(IoTError) -> Int {
        if let index = added.firstIndex(where: { $0.name == name }) { return index }
        guard configuration.cameras.contains(where: { $0.name == name }) else {
            throw IoTError(
                .notFound, "there is no camera '\(name)'", remedy: "list the cameras with `iotctl camera list`")
        }
        throw IoTError(
            .operationNotAllowed,
            "'\(name)' was not added by `iotctl camera add`: it is in the configuration or on the command line",
            remedy: "change the file and run `iotctl reload`, or remove it from the command line and restart")
    }

    /// Starts a camera in place of the previous one of the same name.
    ///
    /// - Parameter camera: the settings for opening the camera.
    private func begin(_ camera: CameraSettings) async throws(IoTError) {
        guard entries.count < Self.limit || entries[camera.name] != nil else {
            throw IoTError(.tooManyRequests, "\(Self.limit) cameras are running already", remedy: "remove one first")
        }
        do {
            await end(camera.name)
            let entry = CameraEntry(settings: camera, product: try await actions.make(camera), logger: logger)
            guard case .enqueued = start.yield(entry) else { throw IoTError(.stopping) }
            entries[camera.name] = entry
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.internalFailure, "camera '\(camera.name)': \(error)", underlying: error)
        }
    }

    private func end(_ name: String) async {
        await entries.removeValue(forKey: name)?.stop()
    }

    private func takeTurn() async throws(IoTError) {
        guard try !turns.take() else { return }
        await withCheckedContinuation { turns.wait($0) }
    }
}
