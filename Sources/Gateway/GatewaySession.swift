/// The gateway as one caller may use it: a room for each thing that it has.
///
/// A `device` is an id or a name, as the caller wrote it. A `requestID` is the caller's idempotency key; with `nil` the
/// gateway makes one. Every failure is an `IoTError`; anything else is a mistake of the gateway's own (25000). The door
/// has checked what the caller's credentials are good for; which devices and channels the caller may use is judged here
/// and by the hub.
package protocol GatewaySession: Sendable {
    var daemon: any GatewayDaemon { get }
    var cameras: any GatewayCameras { get }
    var discovery: any GatewayDiscovery { get }

    var users: any GatewayUsers { get }
    var bindings: any GatewayBindings { get }
    var tokens: any GatewayTokens { get }
    var keys: any GatewayKeys { get }

    var devices: any GatewayDevices { get }
    var properties: any GatewayProperties { get }
    var messages: any GatewayMessages { get }
    var events: any GatewayEvents { get }

    var channels: any GatewayChannels { get }
    var calls: any GatewayCalls { get }
}
