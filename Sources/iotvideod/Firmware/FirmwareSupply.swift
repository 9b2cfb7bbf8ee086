import Firmware
import GatewayAPI
import IoTCore
import Logging
import MediaChannel
import NIOCore

/// What all upgrades of this box and its cameras share.
struct FirmwareSupply: Sendable {
    let keys: [ReleasePublicKey]
    /// Where releases are downloaded to.
    let directory: String
    /// The directory in which `directory` is made; `nil` for the configuration's, in a directory of the administrator's.
    let parent: String?
    let source: ReleaseSource
    /// Of `firmware.times`.
    let times: RecordingTimes?

    init(
        keys: [ReleasePublicKey], directory: String, in parent: String? = nil, source: ReleaseSource,
        times: RecordingTimes? = nil
    ) {
        self.parent = parent
        self.keys = keys
        self.directory = directory
        self.source = source
        self.times = times
    }

    /// - Returns: `nil` for a box where nothing is upgraded in this way.
    /// - Throws: for a key or another file that cannot be used.
    init?(_ configuration: Configuration, hasHub: Bool, logger: Logger) throws(IoTError) {
        guard let directory = configuration.firmware.directory, !configuration.firmware.keyFiles.isEmpty else {
            return nil
        }
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
        self.init(
            keys: keys, directory: directory, source: try ReleaseSource(configuration),
            times: RecordingTimes(configuration.firmware.times))
    }

    /// Where a camera's releases are downloaded to.
    static func directory(of camera: String, in directory: String) -> String { "\(directory)/camera-\(camera)" }

    /// - Returns: `nil` for a program whose version is not known.
    func box(logger: Logger) -> FirmwareUpgrades? {
        guard let version = FirmwareVersion(ProductVersion.current) else { return nil }
        let installer = BoxInstaller(
            directory: directory, target: FirmwareTarget(model: BoxModel.name, version: version), logger: logger)
        return FirmwareUpgrades(self, installer, identity: nil, logger: logger)
    }

    /// - Returns: `nil` for a camera whose settings do not ask for it.
    func camera(_ settings: CameraSettings, loops: any EventLoopGroup, logger: Logger) -> FirmwareUpgrades? {
        guard let installer = CameraInstaller(settings, loops: loops, logger: logger) else { return nil }
        let supply = FirmwareSupply(
            keys: keys, directory: Self.directory(of: settings.name, in: directory), in: directory, source: source,
            times: times)
        return FirmwareUpgrades(
            supply, installer, identity: FirmwareIdentity(model: "", version: ""), logger: logger)
    }
}
