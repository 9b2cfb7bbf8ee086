public import IoTCore

/// What the players of each kind of channel can do, from the function table of the IoT video SDK guide.
public struct PlayerCapabilities: Sendable, Hashable {
    /// A row of the table; the raw value is used in messages.
    public enum Function: String, Sendable, CaseIterable {
        case video = "a picture"
        case audio = "sound"
        /// A pause is a rate of 0: a player that cannot pause has only the rate 1.
        case pause = "pauses and rates"
        case seek = "seeking"
        case duration = "a total time"
        case position = "a position"
        case stateChanges = "changes of state"
        case mute = "muting"
        case scaling = "scaling"
        case snapshot = "snapshots"
        case recording = "recording while it plays"
        case talk = "talking"
        case definition = "a choice of definitions"
        case twoWayVideo = "video in both directions"
    }

    public let kind: ChannelKind

    public init(of kind: ChannelKind) {
        self.kind = kind
    }

    private static let table: [Function: Set<ChannelKind>] = [
        .video: [.monitor, .playback, .live],
        .audio: [.monitor, .playback, .live],
        .pause: [.playback],
        .seek: [.playback],
        .duration: [.playback],
        .position: [.playback],
        .stateChanges: [.monitor, .playback, .live],
        .mute: [.monitor, .playback, .live],
        .scaling: [.monitor, .playback, .live],
        .snapshot: [.monitor, .playback, .live],
        .recording: [.monitor, .playback, .live],
        .talk: [.monitor, .playback, .live],
        .definition: [.monitor],
        .twoWayVideo: [.live],
    ]

    public func offers(_ function: Function) -> Bool {
        Self.table[function]?.contains(kind) ?? false
    }

    /// - Throws: `operationNotAllowed` (21040) if players of this kind do not offer the function.
    public func require(_ function: Function) throws(IoTError) {
        guard !offers(function) else { return }
        let others = ChannelKind.allCases.filter { PlayerCapabilities(of: $0).offers(function) }.map(\.name)
        throw IoTError(
            .operationNotAllowed, "a \(kind.name) channel does not offer \(function.rawValue)",
            remedy: "open a channel of another kind: \(others.joined(separator: " or "))")
    }
}
