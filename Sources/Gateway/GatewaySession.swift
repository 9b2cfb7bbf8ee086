/// The gateway as one caller may use it, divided into one protocol per subject.
///
/// A `device` is an id or a name, as the caller wrote it. A `requestID` is the caller's idempotency key; with `nil` the
/// gateway creates one. Methods throw `IoTError`; any other error is reported as 25000. The HTTP API has already
/// checked what the caller's credentials allow. The session and the hub check which devices and channels the caller may
/// use.
package protocol GatewaySession: Sendable {
    var daemon: any GatewayDaemon { get }
    var cameras: any GatewayCameras { get }
    var discovery: any GatewayDiscovery { get }

    var users: any GatewayUsers { get }
    var bindings: any GatewayBindings { get }
    var tokens: any GatewayTokens { get }
    var keys: any GatewayKeys { get }
    var firmware: any GatewayFirmware { get }

    var devices: any GatewayDevices { get }
    var properties: any GatewayProperties { get }
    var messages: any GatewayMessages { get }
    var events: any GatewayEvents { get }
    var notices: any GatewayNotices { get }

    var channels: any GatewayChannels { get }
    var calls: any GatewayCalls { get }
    var streams: any GatewayStreams { get }
    var recordings: any GatewayRecordings { get }
    var storage: any GatewayStorage { get }
}
