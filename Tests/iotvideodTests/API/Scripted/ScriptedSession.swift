import IoTCore

@testable import Gateway

/// The gateway for one caller. Each call is recorded with the method's name.
struct ScriptedSession: GatewaySession {
    let script: ScriptedGateway
    let lease: Lease

    var daemon: any GatewayDaemon { ScriptedDaemon(session: self) }
    var cameras: any GatewayCameras { ScriptedCameras(session: self) }
    var discovery: any GatewayDiscovery { ScriptedDiscovery(session: self) }
    var users: any GatewayUsers { ScriptedUsers(session: self) }
    var bindings: any GatewayBindings { ScriptedBindings(session: self) }
    var tokens: any GatewayTokens { ScriptedTokens(session: self) }
    var keys: any GatewayKeys { ScriptedKeys(session: self) }
    var firmware: any GatewayFirmware { ScriptedFirmware(session: self) }
    var devices: any GatewayDevices { ScriptedDevices(session: self) }
    var properties: any GatewayProperties { ScriptedProperties(session: self) }
    var messages: any GatewayMessages { ScriptedMessages(session: self) }
    var events: any GatewayEvents { ScriptedEvents(session: self) }
    var notices: any GatewayNotices { ScriptedNotices(session: self) }
    var channels: any GatewayChannels { ScriptedChannels(session: self) }
    var calls: any GatewayCalls { ScriptedCalls(session: self) }
    var streams: any GatewayStreams { ScriptedStreams(session: self) }
    var recordings: any GatewayRecordings { ScriptedRecordings(session: self) }
    var storage: any GatewayStorage { ScriptedStorage(session: self) }

    func note(_ name: String = #function) throws(IoTError) {
        try script.note(lease.caller, String(name.prefix { $0 != "(" }))
    }

    /// Waits until the request is cancelled, and records `cancelled`.
    func waitForCancellation() async throws -> Never {
        let (endless, source) = AsyncStream.makeStream(of: Never.self)
        for await _ in endless {}
        source.finish()
        try note("cancelled")
        throw CancellationError()
    }
}
