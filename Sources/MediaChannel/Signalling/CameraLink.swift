import IoTLink

/// The part of a device's link session that its calls use.
protocol CameraLink: AccountRequester, LinkResponding {
    /// The keys that verify the hub's tokens; `nil` if the hub gave none.
    var tokenKeys: TokenKeys? { get }
    /// The time on the hub's clock, ms since 1970.
    var hubTime: Int64 { get }
}

extension LinkSession: CameraLink {}
