public import IoTCore

/// What a device is, for the question whether a release is for it.
public struct FirmwareTarget: Sendable, Hashable {
    public var model: String
    /// `nil` if it is not known. Then only releases without `from` can be for the device.
    public var version: FirmwareVersion?

    public init(model: String, version: FirmwareVersion?) {
        self.model = model
        self.version = version
    }
}

extension ReleaseManifest {
    /// Checks that the release is for a device.
    ///
    /// - Throws: `releaseModelDiffers`, `releaseVersionRefused`.
    public func check(for target: FirmwareTarget) throws(IoTError) {
        guard model == target.model else {
            throw IoTError(
                .releaseModelDiffers, "the release is for the model '\(model)', the device is a '\(target.model)'")
        }
        guard let installed = target.version else {
            guard from.isEmpty else {
                throw IoTError(
                    .releaseVersionRefused, "\(version) is only for certain versions, and the device's is not known",
                    remedy: "name the device's version")
            }
            return
        }
        guard version != installed else {
            throw IoTError(.releaseVersionRefused, "the device already has \(version)", remedy: "nothing to do")
        }
        guard version > installed || isDowngrade else {
            throw IoTError(
                .releaseVersionRefused, "\(version) is older than \(installed) and is not signed as a downgrade")
        }
        guard from.isEmpty || from.contains(where: { $0.matches(installed) }) else {
            let versions = from.map(\.description).joined(separator: ", ")
            throw IoTError(
                .releaseVersionRefused, "\(version) can be installed on \(versions), not on \(installed)",
                remedy: "install one of these versions first")
        }
    }
}
