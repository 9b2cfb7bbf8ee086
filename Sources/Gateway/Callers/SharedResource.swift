import IoTCore

/// The resources that all accounts of this gateway share, and their limits. docs/threat_model.md contains the same
/// table.
///
/// Requests that wait for the hub are counted in the link session (`LinkLimits.pendingRequests`).
package enum SharedResource: String, CaseIterable, Sendable {
    /// Requests in progress, including those with streaming bodies.
    case requests
    /// Connections to devices (`channels.connections`).
    case channels
    /// Uses of channels. Several may share one connection.
    case channelUses
    /// Calls of browsers, whose media do not pass through the gateway (`channels.calls`).
    case calls
    /// RTSP players that read a camera of this box.
    case readers
    /// Camera sources that are being tested.
    case cameraTests
    /// Searches of the network. A second one at the same time would find the same devices.
    case discoveries
    /// Pictures that are made for single requests.
    case snapshots
    /// Bodies of raw video and raw audio. Each has a thread and up to 96 MiB of data that waits for its reader.
    case rawBodies
    /// Dumps of coded frames. Each has a thread and up to 4 MiB that wait for its reader.
    case dumps
    /// Sounds that are being sent to devices. Each has two threads.
    case talks
    /// Streams of data over channels, in either direction. Each holds at most a window of 256 KiB.
    case dataStreams
    /// Readers of the log.
    case logs
    /// Recordings that are being read. Each has two open files, and is not removed meanwhile.
    case recordingReaders
    /// Clips of recordings that are being read. Each holds the clip's head in memory, up to 5 MiB, and the heads of up to
    /// 7,200 fragments are read for it.
    case clips
    /// Files of releases that are being read.
    case releaseReaders
    /// Checks of the recording disk, which take minutes.
    case recordingChecks

    /// The limits without a configuration.
    var bound: QuotaBound {
        switch self {
        case .requests: QuotaBound(total: 512, each: 96, reserve: 128)
        case .channels: Self.channelBound(16)
        case .channelUses: QuotaBound(total: 1024, each: 64, reserve: 128)
        case .calls: Self.callBound(256)
        case .readers: QuotaBound(total: 256, each: 128, reserve: 32)
        case .cameraTests: QuotaBound(total: 4, each: 2, reserve: 1)
        case .discoveries, .recordingChecks: QuotaBound(total: 1, each: 1)
        case .dataStreams, .recordingReaders: QuotaBound(total: 64, each: 16, reserve: 16)
        case .snapshots, .rawBodies, .dumps, .talks, .logs, .clips, .releaseReaders:
            QuotaBound(total: 16, each: 4, reserve: 4)
        }
    }

    /// A gateway with few connections gives them to any account, but reserves one for the owner.
    static func channelBound(_ total: Int) -> QuotaBound {
        QuotaBound(total: total, each: max(1, total / 2), reserve: total > 1 ? max(1, total / 8) : 0)
    }

    static func callBound(_ total: Int) -> QuotaBound {
        QuotaBound(total: total, each: max(1, total / 8), reserve: total > 1 ? max(1, total / 8) : 0)
    }

    /// The error number when the limit is reached.
    var code: ErrorCode {
        switch self {
        case .requests, .channelUses, .cameraTests, .discoveries, .snapshots, .rawBodies, .dumps, .talks,
            .dataStreams, .logs, .recordingReaders, .clips, .releaseReaders, .recordingChecks:
            .tooManyRequests
        case .channels, .calls, .readers: .tooManyConnections
        }
    }

    var words: String {
        switch self {
        case .requests: "requests are in progress"
        case .channels: "connections to devices (channels.connections)"
        case .channelUses: "channel uses are open"
        case .calls: "calls from browsers (channels.calls)"
        case .readers: "RTSP players are reading"
        case .cameraTests: "camera sources are being tested"
        case .discoveries: "searches of the network are running"
        case .snapshots: "snapshots are being made"
        case .rawBodies: "raw video and raw audio are being read"
        case .dumps: "dumps of coded frames are being read"
        case .talks: "sounds are being sent to devices"
        case .dataStreams: "streams of data over channels are open"
        case .logs: "readers of the log"
        case .recordingReaders: "recordings are being read"
        case .clips: "clips of recordings are being read"
        case .releaseReaders: "files of releases are being read"
        case .recordingChecks: "checks of the recording disk are running"
        }
    }

    var remedy: String {
        switch self {
        case .requests, .cameraTests, .discoveries, .snapshots, .rawBodies, .dumps, .talks, .dataStreams, .logs,
            .recordingReaders, .clips, .releaseReaders, .recordingChecks:
            "wait until some have ended"
        case .channels, .channelUses: "close some with `iotctl`, or wait until they close"
        case .calls: "end some, or raise channels.calls"
        case .readers: "stop some of the players"
        }
    }

    /// Checks per second of tokens that were not valid at the last check, and the same number for media keys. `each` is
    /// the limit of an account, or of an address for media keys and for hubs that do not provide their public keys.
    static let tokenChecks = QuotaBound(total: 200, each: 20)
}
