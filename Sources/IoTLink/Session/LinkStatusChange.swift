public import IoTCore

/// A link status with its reason.
public struct LinkStatusChange: Sendable, CustomStringConvertible {
    /// The cause of a status.
    public enum Cause: String, Sendable, Codable {
        /// `register()` was not called yet.
        case notRegistered
        /// `register()`, or a new token after a refused one.
        case registering
        case connected
        /// The broker cannot be reached, or the connection to it ended.
        case connectionLost
        /// The broker or the hub did not answer in time.
        case noAnswer
        /// The hub refused the session for another reason than its token.
        case refused
        case tokenRefused
        /// The token could not be read.
        case tokenUnreadable
        /// The hub ended the session, for the reason in `kick`.
        case kicked
        /// `unregister()`.
        case unregistered
        /// The daemon is stopping.
        case stopping
    }

    public let status: LinkStatus
    public let cause: Cause
    /// The error that caused the change; `nil` when nothing failed.
    public let reason: IoTError?
    /// Why the hub ended the session; `nil` for every other cause.
    public let kick: LinkKickReason?
    /// When the status began, in ms since 1970.
    public let since: Int64

    package init(
        _ status: LinkStatus, _ cause: Cause, reason: IoTError? = nil, kick: LinkKickReason? = nil, since: Int64
    ) {
        self.status = status
        self.cause = cause
        self.reason = reason
        self.kick = kick
        self.since = since
    }

    public var description: String {
        "\(status.name) (\(reason.map(\.description) ?? cause.rawValue))"
    }
}
