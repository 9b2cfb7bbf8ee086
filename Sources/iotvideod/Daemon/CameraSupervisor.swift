import GatewayAPI
import IoTCore
import Logging
import ServiceLifecycle

/// Owns the cameras that run: adds, changes and removes them one by one, without touching the others.
actor CameraSupervisor<Product: Service & Sendable>: Service {
    /// Makes a camera and its device. The settings are as to be opened, with their secret.
    typealias Factory = @Sendable (CameraSettings) async throws -> Product

    struct Actions: Sendable {
        /// The configuration as it is now, checked as at a start.
        var read: @Sendable () throws(IoTError) -> Configuration
        var make: Factory
        /// Puts the keys that count at once into force.
        var apply: @Sendable (Configuration) async -> Void
    }

    private let actions: Actions
    private let added: AddedCameras
    private let logger: Logger
    /// What runs; its cameras are those that should.
    private var configuration: Configuration
    private var entries: [String: CameraEntry<Product>] = [:]
    private var turns = TurnQueue()
    private let starts: AsyncStream<CameraEntry<Product>>
    private let start: AsyncStream<CameraEntry<Product>>.Continuation

    /// Many more than a machine can serve; the next is refused.
    private static var limit: Int { 1024 }

    init(_ configuration: Configuration, actions: Actions, logger: Logger) {
        self.configuration = configuration
        self.actions = actions
        self.logger = logger
        added = AddedCameras(dataDirectory: configuration.dataDirectory)
        (starts, start) = AsyncStream.makeStream(
            of: CameraEntry<Product>.self, bufferingPolicy: .bufferingOldest(Self.limit))
    }

    /// Makes the cameras of the configuration, which begin when `run` does.
    ///
    /// - Throws: why one of them could not be made.
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

    /// Those that run, in order of their names.
    var products: [Product] {
        entries.sorted { $0.key < $1.key }.map(\.value.product)
    }

    func add(_ request: CameraRequest) async throws(IoTError) {
        let camera = try request.settings.checked()
        try await takeTurn()
        defer { turns.leave() }
        guard !configuration.cameras.contains(where: { $0.name == camera.name }) else {
            throw IoTError(.nameTaken, "there is a camera '\(camera.name)' already")
        }
        let before = try added.load()
        // Written first: what was answered with success is there after a power cut.
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
        try added.save(cameras)
        do throws(IoTError) {
            try await begin(try cameras[index].openable())
        } catch {
            try added.save(before)
            // What ran before runs again, where it can.
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
        logger.notice("camera removed", metadata: ["camera": "\(name)"])
    }

    /// Takes the configuration over as it is now; a wrong one is refused as a whole.
    func reload() async throws(IoTError) -> ConfigurationChange {
        try await takeTurn()
        defer { turns.leave() }
        let new: Configuration
        var openable: [CameraSettings] = []
        do throws(IoTError) {
            new = try actions.read()
            for camera in new.cameras { openable.append(try camera.openable()) }
        } catch {
            logger.error("the new configuration is refused, and the old one goes on: \(error.messageWithRemedy)")
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
        logger.notice("the configuration was read again: \(plan.change)")
        if let first = failures.first {
            let text = failures.map(\.message).joined(separator: "; ")
            logger.error("the configuration was taken over, but not every camera started: \(text)")
            throw first.withMessage("the configuration was taken over, but not every camera started: \(text)")
        }
        return plan.change
    }

    // MARK: Inside

    /// Where an added camera stands in the list of them.
    private func index(of name: String, in added: [CameraSettings]) throws(IoTError) -> Int {
        if let index = added.firstIndex(where: { $0.name == name }) { return index }
        guard configuration.cameras.contains(where: { $0.name == name }) else {
            throw IoTError(
                .notFound, "there is no camera '\(name)'", remedy: "list what exists with `iotctl camera list`")
        }
        throw IoTError(
            .operationNotAllowed,
            "'\(name)' was not added by `iotctl camera add`: it stands in the configuration or on the command line",
            remedy: "change the file and run `iotctl reload`, or take it off the command line and restart")
    }

    /// Starts a camera in place of an older one of its name.
    ///
    /// - Parameter camera: as to be opened.
    private func begin(_ camera: CameraSettings) async throws(IoTError) {
        guard entries.count < Self.limit || entries[camera.name] != nil else {
            throw IoTError(.tooManyRequests, "\(Self.limit) cameras run already", remedy: "remove one first")
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
