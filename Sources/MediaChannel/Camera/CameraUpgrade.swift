package import IoTCore
package import IoTLink

/// What upgrades a device's firmware: that of its box, which all cameras of the box share, or the camera's own.
package protocol CameraUpgrade: Sendable {
    /// From now on, `reports` get what changes, beginning with the newest values. They replace the ones that the device
    /// had before.
    func attach(_ device: DeviceID, _ reports: UpgradeReports)

    /// The device has gone.
    func detach(_ device: DeviceID)

    /// Follows the device's `ProWritable._otaMode`: 1 and 2 let the box upgrade itself, over the device's link.
    func follow(mode: Int64, of device: DeviceID, over link: any LinkRequester)

    /// Starts the upgrade to the newest release for the device of this link, and returns.
    ///
    /// - Throws: `deviceBusy` while another upgrade runs.
    func start(over link: any LinkRequester) throws(IoTError)

    /// Cancels the upgrade.
    ///
    /// - Throws: `stateMismatch` if none runs that can be cancelled.
    func cancel() throws(IoTError)
}

/// What a device shows of its upgrades.
package struct UpgradeReports: Sendable {
    /// The value of `ProReadonly._otaUpgrade`.
    package var progress: @Sendable (Int32) -> Void
    /// The value of `ProConst.firmware`, if it is not the box's.
    package var identity: @Sendable (FirmwareIdentity) -> Void

    package init(
        progress: @escaping @Sendable (Int32) -> Void, identity: @escaping @Sendable (FirmwareIdentity) -> Void
    ) {
        self.progress = progress
        self.identity = identity
    }
}

/// What is upgraded, as releases of firmware name it.
package struct FirmwareIdentity: Sendable, Hashable {
    /// Empty if it is not known; then no release is for it.
    package var model: String
    /// Empty if it is not known.
    package var version: String

    package init(model: String, version: String) {
        self.model = model
        self.version = version
    }

    package var json: JSONValue { ["model": .string(model), "version": .string(version)] }
}

/// The box that runs this program, as releases of firmware name it.
package enum BoxModel {
    /// The package and Debian's name of the processor.
    package static let name: String = {
        #if arch(x86_64)
            "iotvideod-amd64"
        #elseif arch(arm64)
            "iotvideod-arm64"
        #else
            "iotvideod"
        #endif
    }()
}
