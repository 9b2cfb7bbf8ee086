import Firmware
import IoTCore
import MediaChannel

/// What installs releases on the thing that is upgraded: this box, or a camera.
protocol ReleaseInstaller: Sendable {
    /// What releases must be for.
    func target() async throws -> FirmwareTarget

    /// Installs a verified release, or hands it to who does.
    ///
    /// - Parameter report: gets the progress, above 90.
    func install(
        _ release: BundleFile, _ manifest: ReleaseManifest, _ report: @escaping @Sendable (Int32) -> Void
    ) async throws

    /// Runs beside the upgrades until it is cancelled. `report` gets what becomes known outside an upgrade.
    func run(_ report: @escaping @Sendable (UpgradeNews) -> Void) async
}

/// What becomes known about an upgrade, or about what is upgraded.
enum UpgradeNews: Sendable {
    case progress(Int32)
    case identity(FirmwareIdentity)
}
