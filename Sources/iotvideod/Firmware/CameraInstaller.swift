import Firmware
import IoTCore
import Logging
import MediaChannel
import NIOCore
import NetConfig

/// Sends releases to a camera of another maker, which installs them itself (ONVIF Core §8.4).
struct CameraInstaller: ReleaseInstaller {
    /// The progress while the camera gets the file.
    private static let upload: ClosedRange<Int32> = 90...94
    /// Between two questions to a camera that installs a release.
    private static let askInterval = Duration.seconds(5)
    /// Between two questions for the camera's version; somebody else may upgrade it.
    private static let lookInterval = Duration.seconds(3_600)
    /// After a question without an answer. Cameras lock accounts after some wrong passwords.
    private static let pauses: ClosedRange<Duration> = .seconds(10)...(.seconds(600))

    private let client: ONVIFFirmwareClient
    /// Besides the time that the camera says.
    private let patience: Duration
    private let logger: Logger
    private let known: AsyncStream<FirmwareIdentity>
    private let learn: AsyncStream<FirmwareIdentity>.Continuation

    init(_ client: ONVIFFirmwareClient, patience: Duration = .seconds(600), logger: Logger) {
        self.client = client
        self.patience = patience
        self.logger = logger
        (known, learn) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// - Returns: `nil` if the camera's settings do not ask for it.
    init?(_ settings: CameraSettings, loops: any EventLoopGroup, logger: Logger) {
        guard settings.firmware == .camera, let service = ONVIFService(settings) else { return nil }
        self.init(ONVIFFirmwareClient(service, loops: loops), logger: logger)
    }

    func target() async throws -> FirmwareTarget {
        let identity = FirmwareIdentity(try await client.information())
        learn.yield(identity)
        return FirmwareTarget(model: identity.model, version: FirmwareVersion(identity.version))
    }

    func install(
        _ release: BundleFile, _ manifest: ReleaseManifest, _ report: @escaping @Sendable (Int32) -> Void
    ) async throws {
        let size = Int(manifest.size)
        let downTime = try await client.upload(size: size) { place, count in
            let share = Double(place) / Double(max(size, 1)) * Double(Self.upload.count)
            report(min(Self.upload.lowerBound + Int32(share), Self.upload.upperBound))
            return try await release.read(at: place, count: count)
        }
        report(UpgradeReport.handedOver)
        logger.notice("the camera has the release", metadata: ["firmware.version": "\(manifest.version)"])
        try await awaitVersion(manifest.version, within: downTime + patience)
        await release.remove()
        report(UpgradeReport.installed)
        logger.notice("the upgrade has succeeded", metadata: ["firmware.version": "\(manifest.version)"])
    }

    /// A camera answers with its old version until it restarts, so that only the end of the time is a failure.
    private func awaitVersion(_ version: FirmwareVersion, within limit: Duration) async throws {
        let end = ContinuousClock.now + limit
        var failure = IoTError(.upgradeRolledBack, "the camera did not come back after it got the release")
        repeat {
            try await Task.sleep(for: min(Self.askInterval, limit))
            do {
                let identity = FirmwareIdentity(try await client.information())
                learn.yield(identity)
                if FirmwareVersion(identity.version) == version { return }
                failure = IoTError(
                    .upgradeRolledBack, "the camera got the release, and still has '\(identity.version)'")
            } catch let error as IoTError {
                logger.debug("the camera does not answer", metadata: ["error": "\(error)"])
            }
        } while ContinuousClock.now < end
        throw failure
    }

    func run(_ report: @escaping @Sendable (UpgradeNews) -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await look() }
            for await identity in known { report(.identity(identity)) }
            group.cancelAll()
        }
    }

    private func look() async {
        var pause = Self.pauses.lowerBound
        while !Task.isCancelled {
            do {
                _ = try await target()
                pause = Self.pauses.lowerBound
                try await Task.sleep(for: Self.lookInterval)
            } catch {
                logger.info("the camera does not say its version", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, Self.pauses.upperBound)
            }
        }
    }
}

extension FirmwareIdentity {
    /// - Parameter information: as the camera's maker writes it: model `ACME CAM 7`, version `V5.7.3 build 220112`.
    init(_ information: ONVIFFirmwareClient.Information) {
        let model = information.model.unicodeScalars.map { scalar in
            (0x20...0x7E).contains(scalar.value) ? Character(scalar) : "-"
        }
        self.init(
            model: String(model.prefix(ReleaseManifest.longestModel)),
            version: FirmwareVersion(foundIn: information.version)?.description ?? "")
    }
}
