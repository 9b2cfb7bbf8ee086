import IoTCore
import NIOCore

/// Records when a player first reached each stage: the log and the channel's description are made from it. A value
/// without a clock.
struct StageLog {
    /// More entries than a play has. Nothing more is recorded.
    static let limit = 64

    private struct Key: Hashable {
        var stage: PlayStage
        var track: MediaKind?
        var detail: String?
    }

    private let begun: NIODeadline
    private var reached: Set<Key> = []
    private(set) var entries: [StageEntry] = []

    init(begun: NIODeadline) {
        self.begun = begun
    }

    /// Whether the stage has been reached; a stage with details is reached once for each.
    func has(_ stage: PlayStage, _ track: MediaKind? = nil, detail: String? = nil) -> Bool {
        reached.contains(Key(stage: stage, track: track, detail: detail))
    }

    /// Makes the entry, and records it if it is the first of its stage, track and detail.
    mutating func note(
        _ stage: PlayStage, _ track: MediaKind?, detail: String?, at time: NIODeadline, _ facts: [String: JSONValue]
    ) -> StageEntry {
        let entry = StageEntry(stage: stage, track: track, time: time - begun, facts: facts)
        if entries.count < Self.limit, reached.insert(Key(stage: stage, track: track, detail: detail)).inserted {
            entries.append(entry)
        }
        return entry
    }
}
