import Firmware
import GatewayAPI
import IoTCore
import IoTLink
import Logging
import MediaChannel
import NIOCore
import ServiceLifecycle
import Synchronization

/// The upgrades of this box, one at a time. The release goes into the directory of the configuration; another program,
/// which has the rights, installs it (docs/firmware.md).
final class BoxFirmware: Service, BoxUpgrade {
    /// The progress when the release was handed over.
    static let handedOver: Int32 = 95

    private struct Order: Sendable {
        var link: any LinkRequester
        /// The version, if the box began by itself.
        var version: String?
        /// Ends when the upgrade is cancelled.
        var cancellation: AsyncStream<Never>
        var cancel: @Sendable () -> Void
    }

    private struct State {
        var order: Order?
        var isCancelled = false
        var isHandedOver = false
        /// By the devices of this box's cameras.
        var reports: [DeviceID: @Sendable (Int32) -> Void] = [:]
        var progress: Int32?
        var schedule = UpgradeSchedule()
        var links: [DeviceID: any LinkRequester] = [:]

        mutating func end() {
            order = nil
            isCancelled = false
            isHandedOver = false
        }
    }

    private let keys: [ReleasePublicKey]
    private let directory: String
    private let source: ReleaseSource
    private let target: FirmwareTarget
    /// Of `firmware.times`.
    private let times: RecordingTimes?
    private let logger: Logger
    private let state = Mutex(State())
    private let orders: AsyncStream<Order>
    private let add: AsyncStream<Order>.Continuation
    /// At the start, and after each release that was handed over.
    private let reportTimes: AsyncStream<Void>
    private let reportTime: AsyncStream<Void>.Continuation

    init(
        keys: [ReleasePublicKey], directory: String, source: ReleaseSource, target: FirmwareTarget,
        times: RecordingTimes? = nil, logger: Logger
    ) {
        self.times = times
        self.keys = keys
        self.directory = directory
        self.source = source
        self.target = target
        self.logger = logger
        // `start` admits one at a time.
        (orders, add) = AsyncStream.makeStream(of: Order.self, bufferingPolicy: .bufferingNewest(1))
        (reportTimes, reportTime) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        reportTime.yield()
    }

    func attach(_ device: DeviceID, report: @escaping @Sendable (Int32) -> Void) {
        let progress = state.withLock { state in
            state.reports[device] = report
            return state.progress
        }
        if let progress { report(progress) }
    }

    func follow(mode: Int64, of device: DeviceID, over link: any LinkRequester) {
        let mode = UpgradeSchedule.Mode(rawValue: mode) ?? .asked
        state.withLock { state in
            state.schedule.set(mode, of: device, at: .now())
            state.links[device] = link
        }
    }

    func start(over link: any LinkRequester) throws(IoTError) { try start(over: link, version: nil) }

    private func start(over link: any LinkRequester, version: String?) throws(IoTError) {
        let (cancellation, continuation) = AsyncStream.makeStream(of: Never.self)
        let order = Order(link: link, version: version, cancellation: cancellation) { continuation.finish() }
        try state.withLock { state throws(IoTError) in
            guard state.order == nil else {
                throw IoTError(.deviceBusy, "an upgrade of this box is running", remedy: "wait until it has ended")
            }
            state.order = order
        }
        publish(1)
        add.yield(order)
    }

    private func publish(_ progress: Int32) {
        let reports = state.withLock { state in
            state.progress = progress
            return state.reports.values
        }
        for report in reports { report(progress) }
    }

    func cancel() throws(IoTError) {
        try state.withLock { state throws(IoTError) in
            guard let order = state.order, !state.isHandedOver else {
                throw IoTError(.stateMismatch, "no upgrade is running that can be cancelled")
            }
            state.isCancelled = true
            order.cancel()
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for await _ in self.reportTimes { await self.watchReport() }
                }
                group.addTask { await self.lookByItself() }
                for await order in orders { await carryOut(order) }
                group.cancelAll()
            }
        }
    }

    // MARK: By itself

    /// How often the schedule is asked.
    private static let lookInterval = Duration.seconds(60)

    private func lookByItself() async {
        while (try? await Task.sleep(for: Self.lookInterval)) != nil {
            let isScheduled = times?.contain(WallClock.microseconds()) ?? false
            let link = state.withLock { state in
                state.schedule.look(at: .now(), isScheduled: isScheduled).flatMap { state.links[$0] }
            }
            guard let link else { continue }
            do throws(IoTError) {
                try await upgradeByItself(over: link)
            } catch {
                logger.info("the box could not look for a release", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Upgrades to the newest release, if there is one that was not tried before: one that cannot be installed must not be
    /// downloaded again and again.
    func upgradeByItself(over link: any LinkRequester) async throws(IoTError) {
        let offer = try await link.request(FirmwareMethod.query, FirmwareQuery())
        guard offer.available, let version = offer.version else { return }
        guard try PrivateFile.text(of: tried) != version + "\n" else { return }
        logger.notice("the box upgrades itself", metadata: ["firmware.version": "\(version)"])
        try start(over: link, version: version)
    }

    /// The file with the last version that was handed over by itself.
    private var tried: String { directory + "/tried" }

    /// Publishes what the program that installs releases reports: the one from before this start, and while a release
    /// waits for that program, the next one.
    private func watchReport() async {
        let report = UpgradeReportFile(directory: directory)
        if !report.isExpected { return take(report) }
        while !Task.isCancelled, report.isExpected { try? await Task.sleep(for: .seconds(1)) }
        if !Task.isCancelled { take(report) }
    }

    private func take(_ file: UpgradeReportFile) {
        guard let report = file.read() else { return }
        if report.number != UpgradeReport.installed {
            let code = ErrorCode(rawValue: Int(report.number))
            let error =
                code == .upgradeRolledBack ? IoTError(.upgradeRolledBack, report.text) : IoTError(code, report.text)
            logger.warning("the upgrade failed", metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
        } else {
            logger.notice("the upgrade has succeeded", metadata: ["firmware.version": "\(report.text)"])
        }
        publish(report.number)
    }

    private func carryOut(_ order: Order) async {
        let upgrade = FirmwareUpgrade(
            link: order.link, keys: keys, directory: directory, source: source, target: target, report: publish,
            mayHandOver: { [self] in
                state.withLock { state in
                    state.isHandedOver = !state.isCancelled
                    return state.isHandedOver
                }
            }, logger: logger)
        let failure: (any Error)? = await withTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                do {
                    try await upgrade.run()
                    return nil
                } catch {
                    return error
                }
            }
            group.addTask {
                for await _ in order.cancellation {}
                return CancellationError()
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        switch failure {
        case nil:
            // Not before: a download that failed is tried again.
            if let version = order.version { try? PrivateFile.write(version + "\n", to: tried) }
            reportTime.yield()
        case is CancellationError: publish(0)
        case let error?:
            let error = error as? IoTError ?? IoTError(.internalFailure, "the upgrade failed", underlying: error)
            logger.warning("the upgrade failed", metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
            publish(Int32(clamping: error.code.rawValue))
        }
        state.withLock { $0.end() }
    }
}

extension BoxFirmware {
    /// - Returns: `nil` for a box that is not upgraded in this way.
    /// - Throws: for a key or another file that cannot be used.
    static func make(_ configuration: Configuration, hasHub: Bool, logger: Logger) throws(IoTError) -> BoxFirmware? {
        guard let directory = configuration.firmware.directory, !configuration.firmware.keyFiles.isEmpty,
            let version = FirmwareVersion(ProductVersion.current)
        else { return nil }
        guard hasHub || configuration.firmware.url != nil else {
            logger.warning("this box is not upgraded: its hub is on another box, and firmware.url is not set")
            return nil
        }
        var keys: [ReleasePublicKey] = []
        for path in configuration.firmware.keyFiles {
            guard let key = ReleasePublicKey(pem: try Configuration.text(of: path)) else {
                throw IoTError(
                    .invalidConfiguration, "firmware.keyFiles: \(path) is not the public half of a release key",
                    remedy: "name the file FILE.pub, which `iotctl firmware key create FILE` wrote")
            }
            keys.append(key)
        }
        return BoxFirmware(
            keys: keys, directory: directory, source: try ReleaseSource(configuration),
            target: FirmwareTarget(model: BoxModel.name, version: version),
            times: RecordingTimes(configuration.firmware.times), logger: logger)
    }
}
