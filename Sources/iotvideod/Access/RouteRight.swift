import Gateway
import GatewayAPI
import IoTCore

/// What a caller needs for a route. The hub also checks the account's bindings.
enum RouteRight: Sendable, Hashable {
    /// Nothing: the response contains only public information.
    case anyone
    /// An account; the hub checks further rights.
    case account
    /// The token must allow this action, and its scope must include the device in the path.
    case action(DeviceAction)
    /// The token must allow every action, and its scope must include the device in the path. The hub checks that the
    /// account owns the device.
    case owner
    /// The channel or resource must belong to the account, its device must be in the token's scope, and the token must
    /// allow `view`.
    case channel
    /// As `channel`, and the token must allow this action.
    case channelAction(DeviceAction)
    /// A token without restrictions, of any account.
    case wholeAccount
    /// A token without restrictions, of an administrator.
    case administrator
}

/// The right that each route needs. A route that is not in the table is for administrators only.
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
        "POST /v1/cameras/{name}/call": .administrator,
        "POST /v1/cameras/{name}/detections": .administrator,
        "POST /v1/cameras/{name}/key": .administrator,
        "GET /v1/cameras/{name}/data": .administrator,
        "POST /v1/cameras/{name}/data": .administrator,
        "POST /v1/camera-tests": .administrator,
        "POST /v1/discoveries": .administrator,
        "POST /v1/onvif-queries": .administrator,
        "POST /v1/configuration/reload": .administrator,
        "GET /v1/logs": .administrator,

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
        "GET /v1/notices": .wholeAccount,
        "PUT /v1/notices": .wholeAccount,
        "DELETE /v1/notices": .wholeAccount,

        "GET /v1/firmware/releases": .administrator,
        "POST /v1/firmware/releases": .administrator,
        // Its id is known to those to whom it is offered.
        "GET /v1/firmware/releases/{id}": .account,
        "DELETE /v1/firmware/releases/{id}": .administrator,
        "PUT /v1/firmware/releases/{id}/file": .administrator,
        "GET /v1/firmware/releases/{id}/file": .account,
        "GET /v1/devices/{device}/firmware": .action(.view),

        "GET /v1/devices": .account,
        "POST /v1/devices": .administrator,
        "GET /v1/devices/{device}": .action(.view),
        "PATCH /v1/devices/{device}": .action(.configure),
        "DELETE /v1/devices/{device}": .owner,
        "GET /v1/devices/{device}/export": .action(.view),
        // A restricted token must not change which keys its account trusts.
        "PUT /v1/devices/{device}/key": .wholeAccount,
        "DELETE /v1/devices/{device}/key": .wholeAccount,
        "POST /v1/devices/{device}/lan-password": .action(.configure),
        "GET /v1/devices/{device}/snapshot": .action(.view),
        "GET /v1/devices/{device}/bindings": .owner,
        "POST /v1/devices/{device}/share": .owner,
        "POST /v1/subscriptions": .wholeAccount,
        "PUT /v1/devices/{device}/bindings/{user}": .owner,
        // Callers may remove their own binding; owners may remove every binding.
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

        "GET /v1/devices/{device}/recordings": .action(.playback),
        "DELETE /v1/devices/{device}/recordings": .owner,
        "GET /v1/devices/{device}/recordings/ranges": .action(.playback),
        "GET /v1/devices/{device}/recordings/days": .action(.playback),
        "GET /v1/devices/{device}/recordings/kept": .action(.playback),
        "POST /v1/devices/{device}/recordings/kept": .owner,
        "DELETE /v1/devices/{device}/recordings/kept/{id}": .owner,
        "GET /v1/devices/{device}/recordings/{id}/video.mp4": .action(.playback),
        "GET /v1/devices/{device}/recordings/{id}/init.mp4": .action(.playback),
        "GET /v1/devices/{device}/recordings/{id}/media.m4s": .action(.playback),
        "GET /v1/devices/{device}/recordings/clip.mp4": .action(.playback),
        "GET /v1/devices/{device}/recordings/thumbnail": .action(.playback),
        "GET /v1/devices/{device}/recordings/thumbnails": .action(.playback),
        "GET /v1/devices/{device}/recordings/playlist.m3u8": .action(.playback),
        "GET /v1/recordings/check": .administrator,

        "GET /v1/devices/{device}/storage": .action(.playback),
        "GET /v1/devices/{device}/storage/days": .action(.playback),
        "GET /v1/devices/{device}/storage/playlist": .action(.playback),
        "GET /v1/devices/{device}/storage/m3u8": .action(.playback),
        "GET /v1/devices/{device}/storage/events": .action(.playback),

        "GET /v1/channels": .channel,
        "POST /v1/channels": .action(.view),
        "GET /v1/channels/{id}": .channel,
        "PATCH /v1/channels/{id}": .channel,
        "DELETE /v1/channels/{id}": .channel,
        "POST /v1/channels/{id}/play": .channel,
        "PATCH /v1/channels/{id}/playback": .channelAction(.playback),
        "POST /v1/channels/{id}/playback/step": .channelAction(.playback),
        "POST /v1/channels/{id}/talk": .channelAction(.talk),
        "DELETE /v1/channels/{id}/talk": .channel,
        "POST /v1/channels/{id}/data": .channelAction(.control),
        "POST /v1/channels/{id}/data/stream": .channelAction(.control),
        "GET /v1/channels/{id}/data": .channelAction(.control),
        "GET /v1/channels/{id}/events": .channel,
        "GET /v1/channels/{id}/snapshot": .channel,
        "GET /v1/channels/{id}/recording.mp4": .channel,
        "GET /v1/channels/{id}/video.y4m": .channel,
        "GET /v1/channels/{id}/audio.wav": .channel,
        "GET /v1/channels/{id}/dump": .channel,
        "GET /v1/resources/{token}": .channel,

        "POST /v1/devices/{device}/whep": .action(.view),
        "PATCH /v1/whep/{id}": .channel,
        "DELETE /v1/whep/{id}": .channel,
        // The capabilities of WHEP and a page. They are the same for every device.
        "GET /": .anyone,
        "GET /watch/{device}": .anyone,
        "OPTIONS /v1/devices/{device}/whep": .anyone,
        "OPTIONS /v1/whep/{id}": .anyone,
    ]

    /// The routes that a media key opens: media and event streams. A key opens no others, whatever its account may do.
    static let openToKeys: Set<String> = [
        "GET /v1/events",
        "GET /v1/devices/{device}/properties/watch",
        "GET /v1/devices/{device}/snapshot",
        "GET /v1/devices/{device}/recordings/{id}/video.mp4",
        "GET /v1/devices/{device}/recordings/{id}/init.mp4",
        "GET /v1/devices/{device}/recordings/{id}/media.m4s",
        "GET /v1/devices/{device}/recordings/clip.mp4",
        "GET /v1/devices/{device}/recordings/thumbnail",
        "GET /v1/devices/{device}/recordings/thumbnails",
        "GET /v1/devices/{device}/recordings/playlist.m3u8",
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
    /// Checks the token. The device and the account's rights are checked later.
    ///
    /// - Throws: 25004 without a caller, 25005 if the token does not allow the request.
    func check(_ caller: Caller?) throws(IoTError) {
        if self == .anyone { return }
        guard let caller else { throw IoTError(.unauthenticated) }
        switch self {
        case .anyone, .account: break
        case .action(let action): try caller.require(action)
        case .channel: try caller.require(.view)
        case .channelAction(let action): try caller.require(action)
        case .owner:
            guard caller.scope.actions == nil else {
                throw IoTError(
                    .forbidden, "a token that is limited to some actions cannot do this",
                    remedy: "use a token without such a limit, or the daemon's socket")
            }
        case .wholeAccount, .administrator:
            guard caller.scope.isAll else {
                throw IoTError(
                    .forbidden, "a token that is limited to some devices or actions cannot do this",
                    remedy: "use a token without such a limit, or the daemon's socket")
            }
            guard self == .wholeAccount || caller.isAdministrator else {
                throw IoTError(
                    .forbidden, "only an administrator may do this",
                    remedy: "use an administrator's token, or the daemon's socket")
            }
        }
    }
}
