import Gateway
import GatewayAPI
import IoTCore

/// What a caller needs for a route, beside what the hub judges by the account's bindings.
enum RouteRight: Sendable, Hashable {
    /// Nothing: it tells nothing that a stranger may not know.
    case anyone
    /// An account; more is the hub's to judge.
    case account
    /// The token passes this action on, and the device of the path is in its scope.
    case action(DeviceAction)
    /// The token passes on everything, and the device of the path is in its scope. The hub asks for the owner.
    case owner
    /// The channel or resource is the account's own, its device is in the token's scope, which passes `view` on.
    case channel
    /// A token that passes everything on, of whatever account.
    case wholeAccount
    /// An administrator, with a token that passes everything on.
    case administrator
}

/// Who may call what: the one table of it. A route that is missing here is for administrators.
enum RouteRights {
    static func right(_ method: String, _ path: String) -> RouteRight {
        table["\(method) \(path)"] ?? .administrator
    }

    static let table: [String: RouteRight] = [
        "GET /healthz": .anyone,
        "GET /readyz": .anyone,
        "GET /openapi.yaml": .anyone,
        "GET /metrics": .administrator,
        "GET /v1/status": .account,
        "GET /v1/events": .action(.view),

        "POST /v1/link/register": .administrator,
        "POST /v1/link/unregister": .administrator,
        "GET /v1/cameras": .administrator,
        "POST /v1/cameras": .administrator,
        "GET /v1/cameras/{name}": .administrator,
        "PATCH /v1/cameras/{name}": .administrator,
        "DELETE /v1/cameras/{name}": .administrator,
        "POST /v1/camera-tests": .administrator,
        "POST /v1/discoveries": .administrator,
        "POST /v1/onvif-queries": .administrator,
        "POST /v1/configuration/reload": .administrator,

        "GET /v1/users": .administrator,
        "POST /v1/users": .administrator,
        "POST /v1/users/temporary": .wholeAccount,
        "DELETE /v1/users/{user}": .administrator,

        "GET /v1/tokens": .wholeAccount,
        "POST /v1/tokens": .wholeAccount,
        "DELETE /v1/tokens/{id}": .wholeAccount,
        "POST /v1/net/tokens": .wholeAccount,
        "GET /v1/net/tokens/{id}": .wholeAccount,
        "GET /v1/keys": .wholeAccount,
        "POST /v1/keys": .wholeAccount,
        "DELETE /v1/keys/{id}": .wholeAccount,

        "GET /v1/devices": .account,
        "POST /v1/devices": .administrator,
        "GET /v1/devices/{device}": .action(.view),
        "PATCH /v1/devices/{device}": .action(.configure),
        "DELETE /v1/devices/{device}": .owner,
        "GET /v1/devices/{device}/export": .action(.view),
        "GET /v1/devices/{device}/snapshot": .action(.view),
        "GET /v1/devices/{device}/bindings": .owner,
        "POST /v1/devices/{device}/share": .owner,
        "POST /v1/subscriptions": .wholeAccount,
        "PUT /v1/devices/{device}/bindings/{user}": .owner,
        // The caller's own binding, or as the owner.
        "DELETE /v1/devices/{device}/bindings/{user}": .owner,

        "GET /v1/properties": .action(.view),
        "GET /v1/devices/{device}/properties": .action(.view),
        "PUT /v1/devices/{device}/properties": .action(.configure),
        "GET /v1/devices/{device}/properties/watch": .action(.view),
        "POST /v1/devices/{device}/user-properties/{name}": .action(.configure),
        "PUT /v1/devices/{device}/user-properties/{name}": .action(.configure),
        "DELETE /v1/devices/{device}/user-properties/{name}": .action(.configure),

        "POST /v1/devices/{device}/actions": .action(.control),
        "POST /v1/devices/{device}/messages": .action(.control),
        "POST /v1/server-messages": .wholeAccount,

        "GET /v1/device-events": .action(.view),
        "DELETE /v1/device-events": .owner,

        "GET /v1/channels": .channel,
        "POST /v1/channels": .action(.view),
        "GET /v1/channels/{id}": .channel,
        "DELETE /v1/channels/{id}": .channel,
        "POST /v1/channels/{id}/play": .channel,
        "GET /v1/channels/{id}/events": .channel,
        "GET /v1/channels/{id}/snapshot": .channel,
        "GET /v1/channels/{id}/recording.mp4": .channel,
        "GET /v1/channels/{id}/video.y4m": .channel,
        "GET /v1/channels/{id}/audio.wav": .channel,
        "GET /v1/resources/{token}": .channel,

        "POST /v1/devices/{device}/whep": .action(.view),
        "PATCH /v1/whep/{id}": .channel,
        "DELETE /v1/whep/{id}": .channel,
        // What the protocol can do, and a page; the same for whatever device.
        "GET /": .anyone,
        "GET /watch/{device}": .anyone,
        "OPTIONS /v1/devices/{device}/whep": .anyone,
        "OPTIONS /v1/whep/{id}": .anyone,
    ]

    /// What a media key opens: media, and streams of events; nothing else, whatever its account may do.
    static let openToKeys: Set<String> = [
        "GET /v1/events",
        "GET /v1/devices/{device}/properties/watch",
        "GET /v1/devices/{device}/snapshot",
        "GET /v1/channels/{id}/events",
        "GET /v1/channels/{id}/snapshot",
        "GET /v1/channels/{id}/recording.mp4",
        "GET /v1/channels/{id}/video.y4m",
        "GET /v1/channels/{id}/audio.wav",
        "GET /v1/resources/{token}",
        "POST /v1/devices/{device}/whep",
        "PATCH /v1/whep/{id}",
        "DELETE /v1/whep/{id}",
        "GET /watch/{device}",
        "OPTIONS /v1/devices/{device}/whep",
        "OPTIONS /v1/whep/{id}",
    ]
}

extension RouteRight {
    /// What the token alone says; the device and the account's rights come later.
    ///
    /// - Throws: 25004 for nobody, 25005 for what the token does not pass on.
    func check(_ caller: Caller?) throws(IoTError) {
        if self == .anyone { return }
        guard let caller else { throw IoTError(.unauthenticated) }
        switch self {
        case .anyone, .account: break
        case .action(let action): try caller.require(action)
        case .channel: try caller.require(.view)
        case .owner:
            guard caller.scope.actions == nil else {
                throw IoTError(
                    .forbidden, "a token with a list of actions is not good for this",
                    remedy: "use a token without one, or the daemon's socket")
            }
        case .wholeAccount, .administrator:
            guard caller.scope.isAll else {
                throw IoTError(
                    .forbidden, "a token with a list of devices or actions is not good for this",
                    remedy: "use a token without one, or the daemon's socket")
            }
            guard self == .wholeAccount || caller.isAdministrator else {
                throw IoTError(
                    .forbidden, "only an administrator may do this",
                    remedy: "use an administrator's token, or the daemon's socket")
            }
        }
    }
}
