import IoTCore

/// What all who use this gateway share, and how it is divided. docs/threat_model.md has the same table.
///
/// Requests that wait for the hub are counted in the link session (`LinkLimits.pendingRequests`).
package enum SharedResource: String, CaseIterable, Sendable {
    /// Requests under way, those included whose bodies go on.
    case requests
    /// Connections to devices (`channels.connections`).
    case channels
    /// Parts in channels: several may share one connection.
    case channelUses
    /// Calls of browsers, whose media do not pass here (`channels.calls`).
    case calls
    /// Sources of cameras that are tried.
    case cameraTests
    /// Searches of the network: a second one would find the same.
    case discoveries
    /// Pictures that are made for a request each.
    case snapshots
    /// Bodies of raw video and raw audio: each has a thread and up to 96 MiB that wait for its reader.
    case rawBodies

    /// Where no configuration says otherwise.
    var bound: QuotaBound {
        switch self {
        case .requests: QuotaBound(total: 512, each: 96, reserve: 128)
        case .channels: Self.channelBound(16)
        case .channelUses: QuotaBound(total: 1024, each: 64, reserve: 128)
        case .calls: Self.callBound(256)
        case .cameraTests: QuotaBound(total: 4, each: 2, reserve: 1)
        case .discoveries: QuotaBound(total: 1, each: 1)
        case .snapshots, .rawBodies: QuotaBound(total: 16, each: 4, reserve: 4)
        }
    }

    /// A gateway of few connections has them for whoever comes first, but one for the owner.
    static func channelBound(_ total: Int) -> QuotaBound {
        QuotaBound(total: total, each: max(1, total / 2), reserve: total > 1 ? max(1, total / 8) : 0)
    }

    static func callBound(_ total: Int) -> QuotaBound {
        QuotaBound(total: total, each: max(1, total / 8), reserve: total > 1 ? max(1, total / 8) : 0)
    }

    /// 25024, but for what has a number of its own.
    var code: ErrorCode {
        switch self {
        case .requests, .channelUses, .cameraTests, .discoveries, .snapshots, .rawBodies: .tooManyRequests
        case .channels, .calls: .tooManyConnections
        }
    }

    var words: String {
        switch self {
        case .requests: "requests are under way"
        case .channels: "connections to devices (channels.connections)"
        case .channelUses: "parts in channels are open"
        case .calls: "calls of browsers (channels.calls)"
        case .cameraTests: "sources of cameras are being tried"
        case .discoveries: "searches of the network go on"
        case .snapshots: "snapshots are being made"
        case .rawBodies: "raw video and raw audio are being read"
        }
    }

    var remedy: String {
        switch self {
        case .requests, .cameraTests, .discoveries, .snapshots, .rawBodies: "wait until some have ended"
        case .channels, .channelUses: "close some with `iotctl`, or wait until they close"
        case .calls: "end some, or raise channels.calls"
        }
    }

    /// Questions to the hub in one second about tokens, and as many about media keys, that were not good a moment ago.
    /// `each` is an account's; an address' for keys, and where the hub does not give its own keys.
    static let tokenChecks = QuotaBound(total: 200, each: 20)
}
