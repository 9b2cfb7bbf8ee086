import IoTCore
package import IoTLink

/// The functions of a device's link session that its calls use.
package protocol CameraLink: AccountRequester, LinkResponding {
    /// The keys that verify the hub's tokens; `nil` if the hub gave none.
    var tokenKeys: TokenKeys? { get }
    /// The time on the hub's clock, ms since 1970.
    var hubTime: Int64 { get }
}

/// How a device is asked, and asks its hub: its link session, or one to which other ways are added.
package protocol DeviceLink: CameraLink, MessageLink {
    var current: LinkStatusChange { get }

    func run() async throws
}

extension LinkSession: DeviceLink {}
