package import IoTCore
package import IoTLink

/// What upgrades the firmware of a camera's box. All cameras of the box share it.
package protocol BoxUpgrade: Sendable {
    /// From now on, `report` gets the values of `ProReadonly._otaUpgrade`, beginning with the newest. It replaces the
    /// one that the device had before.
    func attach(_ device: DeviceID, report: @escaping @Sendable (Int32) -> Void)

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
