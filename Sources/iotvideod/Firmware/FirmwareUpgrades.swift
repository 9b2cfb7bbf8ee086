import Firmware
import GatewayAPI
import IoTCore
import IoTLink
import Logging
import MediaChannel
import NIOCore
import ServiceLifecycle
import Synchronization

/// The upgrades of this box, or of a camera, one at a time (docs/firmware.md).
final class FirmwareUpgrades: Service, CameraUpgrade {
    private struct Order: Sendable {
        var link: any LinkRequester
        /// Ends when the upgrade is cancelled.
        var cancellation: AsyncStream<Never>
        var cancel: @Sendable () -> Void
    }

    private struct State {
        var order: Order?
        var isCancelled = false
        var isHandedOver = false
        /// By the devices that show the upgrades.
        var reports: [DeviceID: UpgradeReports] = [:]
        var progress: Int32?
        var identity: FirmwareIdentity?
        var schedule = UpgradeSchedule()
        var links: [DeviceID: any LinkRequester] = [:]

        mutating func end() {
            order = nil
            isCancelled = false
            isHandedOver = false
        }
    }

    private let supply: FirmwareSupply
    private let installer: any ReleaseInstaller
    private let logger: Logger
    private let state: Mutex<State>
    private let orders: AsyncStream<Order>
    private let add: AsyncStream<Order>.Continuation

    /// - Parameter identity: of what is upgraded, until the installer knows it; `nil` for this box.
    init(_ supply: FirmwareSupply, _ installer: any ReleaseInstaller, identity: FirmwareIdentity?, logger: Logger) {
        self.supply = supply
        self.installer = installer
        self.logger = logger
        state = Mutex(State(identity: identity))
        // `start` admits one at a time.
        (orders, add) = AsyncStream.makeStream(of: Order.self, bufferingPolicy: .bufferingNewest(1))
    }

    func attach(_ device: DeviceID, _ reports: UpgradeReports) {
        let (progress, identity) = state.withLock { state in
            state.reports[device] = reports
            return (state.progress, state.identity)
        }
        if let identity { reports.identity(identity) }
        if let progress { reports.progress(progress) }
    }

    func detach(_ device: DeviceID) {
        state.withLock { state in
            state.reports[device] = nil
            state.links[device] = nil
            state.schedule.remove(device, at: .now())
        }
    }

    func follow(mode: Int64, of device: DeviceID, over link: any LinkRequester) {
        let mode = UpgradeSchedule.Mode(rawValue: mode) ?? .asked
        state.withLock { state in
            state.schedule.set(mode, of: device, at: .now())
            state.links[device] = link
        }
    }

    func start(over link: any LinkRequester) throws(IoTError) {
        let (cancellation, continuation) = AsyncStream.makeStream(of: Never.self)
        let order = Order(link: link, cancellation: cancellation) { continuation.finish() }
        try state.withLock { state throws(IoTError) in
            guard state.order == nil else {
                throw IoTError(.deviceBusy, "an upgrade is running", remedy: "wait until it has ended")
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
        for report in reports { report.progress(progress) }
    }

    private func take(_ news: UpgradeNews) {
        switch news {
        case .progress(let progress): publish(progress)
        case .identity(let identity):
            let reports = state.withLock { state -> [UpgradeReports] in
                guard state.identity != identity else { return [] }
                state.identity = identity
                return Array(state.reports.values)
            }
            for report in reports { report.identity(identity) }
        }
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
        await cancelWhenGracefulShutdown { await self.serve() }
    }

    /// Carries out upgrades until it is cancelled.
    func serve() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.installer.run(self.take) }
            group.addTask { await self.lookByItself() }
            for await order in orders { await carryOut(order) }
            group.cancelAll()
        }
    }

    // MARK: By itself

    /// How often the schedule is asked.
    private static let lookInterval = Duration.seconds(60)

    private func lookByItself() async {
        while (try? await Task.sleep(for: Self.lookInterval)) != nil {
            let isScheduled = supply.times?.contain(WallClock.microseconds()) ?? false
            let link = state.withLock { state in
                state.schedule.look(at: .now(), isScheduled: isScheduled).flatMap { state.links[$0] }
            }
            guard let link else { continue }
            do throws(IoTError) {
                try await upgradeByItself(over: link)
            } catch {
                logger.info("no release could be looked for", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Upgrades to the newest release, if there is one that was not tried before: one that cannot be installed must not be
    /// downloaded again and again.
    func upgradeByItself(over link: any LinkRequester) async throws(IoTError) {
        let offer = try await link.request(FirmwareMethod.query, FirmwareQuery())
        guard offer.available, let version = offer.version else { return }
        guard try PrivateFile.text(of: tried) != version + "\n" else { return }
        logger.notice("an upgrade begins by itself", metadata: ["firmware.version": "\(version)"])
        try start(over: link)
    }

    /// The file with the last version that was handed over.
    private var tried: String { supply.directory + "/tried" }

    private func note(_ version: FirmwareVersion) {
        do throws(IoTError) {
            try PrivateFile.write("\(version)\n", to: tried)
        } catch {
            logger.warning("the version could not be noted, and may be tried again", metadata: ["error": "\(error)"])
        }
    }

    private func carryOut(_ order: Order) async {
        let upgrade = FirmwareUpgrade(
            link: order.link, supply: supply, installer: installer, report: publish,
            mayInstall: { [self] version in
                let mayInstall = state.withLock { state in
                    state.isHandedOver = !state.isCancelled
                    return state.isHandedOver
                }
                // Before the installation, because the power may go in it. Not earlier: a download that failed is tried
                // again.
                if mayInstall { note(version) }
                return mayInstall
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
        case nil: break
        case is CancellationError: publish(0)
        case let error?:
            let error = error as? IoTError ?? IoTError(.internalFailure, "the upgrade failed", underlying: error)
            logger.warning("the upgrade failed", metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
            publish(Int32(clamping: error.code.rawValue))
        }
        state.withLock { $0.end() }
    }
}
