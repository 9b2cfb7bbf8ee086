import Firmware
import IoTCore
import Logging
import MediaChannel

/// Hands releases to the program that installs them on this box, through the directory of the configuration.
struct BoxInstaller: ReleaseInstaller {
    private let directory: String
    private let device: FirmwareTarget
    private let logger: Logger
    /// At the start, and after each release that was handed over.
    private let reportTimes: AsyncStream<Void>
    private let reportTime: AsyncStream<Void>.Continuation

    init(directory: String, target: FirmwareTarget, logger: Logger) {
        self.directory = directory
        device = target
        self.logger = logger
        (reportTimes, reportTime) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        reportTime.yield()
    }

    func target() -> FirmwareTarget { device }

    func install(
        _ release: BundleFile, _ manifest: ReleaseManifest, _ report: @escaping @Sendable (Int32) -> Void
    ) async throws {
        try await release.handOver()
        report(UpgradeReport.handedOver)
        logger.notice("a release was handed over", metadata: ["firmware.version": "\(manifest.version)"])
        reportTime.yield()
    }

    func run(_ report: @escaping @Sendable (UpgradeNews) -> Void) async {
        for await _ in reportTimes { await watchReport(report) }
    }

    /// Publishes what the program that installs releases reports: the one from before this start, and while a release
    /// waits for that program, the next one.
    private func watchReport(_ report: @escaping @Sendable (UpgradeNews) -> Void) async {
        let file = UpgradeReportFile(directory: directory)
        if !file.isExpected { return take(file, report) }
        while !Task.isCancelled, file.isExpected { try? await Task.sleep(for: .seconds(1)) }
        if !Task.isCancelled { take(file, report) }
    }

    private func take(_ file: UpgradeReportFile, _ report: @escaping @Sendable (UpgradeNews) -> Void) {
        guard let outcome = file.read() else { return }
        if outcome.number != UpgradeReport.installed {
            let code = ErrorCode(rawValue: Int(outcome.number))
            let error =
                code == .upgradeRolledBack ? IoTError(.upgradeRolledBack, outcome.text) : IoTError(code, outcome.text)
            logger.warning("the upgrade failed", metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
        } else {
            logger.notice("the upgrade has succeeded", metadata: ["firmware.version": "\(outcome.text)"])
        }
        report(.progress(outcome.number))
    }
}
