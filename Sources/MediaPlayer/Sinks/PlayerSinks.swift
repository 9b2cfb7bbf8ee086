import IoTCore

/// What a sink produces.
public enum SinkKind: String, Sendable, Codable, CaseIterable {
    case recording
    case rawVideo
    case rawAudio
    /// The coded frames of one track.
    case dump
    /// A program's own picture sink.
    case pictures
    /// A program's own sound sink.
    case sound

    /// The track whose decoded frames the sink takes; `nil` for coded frames.
    var track: MediaKind? {
        switch self {
        case .recording, .dump: nil
        case .rawVideo, .pictures: .video
        case .rawAudio, .sound: .audio
        }
    }

    /// The name in messages.
    var words: String {
        switch self {
        case .recording: "the recording"
        case .rawVideo: "the raw video"
        case .rawAudio: "the raw audio"
        case .dump: "the dump"
        case .pictures: "the pictures"
        case .sound: "the sound"
        }
    }
}

/// The sinks of a player, for its statistics. Confined to the player's event loop.
struct PlayerSinks {
    /// The number of ended sinks kept for each channel use.
    static let remembered = 8

    private struct Entry {
        let kind: SinkKind
        let use: String?
        let room: SinkRoom
        var countedDrops = 0
    }

    private var entries: [Entry] = []

    /// - Parameter use: the channel use that owns the sink; `nil` for the whole player.
    mutating func add(_ kind: SinkKind, of use: String?, _ room: SinkRoom) {
        let ended = entries.indices.filter { entries[$0].use == use && entries[$0].room.isClosed }
        for index in ended.dropLast(Self.remembered - 1).reversed() { entries.remove(at: index) }
        entries.append(Entry(kind: kind, use: use, room: room))
    }

    mutating func leave(_ use: String) {
        entries.removeAll { $0.use == use }
    }

    /// Calls `body` for each sink that has dropped frames since the last call, with their number.
    mutating func takeLosses(_ body: (_ kind: SinkKind, _ use: String?, _ frames: Int) -> Void) {
        for index in entries.indices {
            let drops = entries[index].room.counts.framesDropped
            let new = drops - entries[index].countedDrops
            guard new > 0 else { continue }
            entries[index].countedDrops = drops
            body(entries[index].kind, entries[index].use, new)
        }
    }

    /// The kinds of the sinks that have not ended.
    var openKinds: [SinkKind] { entries.filter { !$0.room.isClosed }.map(\.kind) }

    /// - Parameter use: `nil` for all sinks.
    func statistics(of use: String?) -> [SinkStatistics] {
        entries.filter { use == nil || $0.use == use }.map { entry in
            let counts = entry.room.counts
            return SinkStatistics(
                kind: entry.kind, isOpen: !entry.room.isClosed, frames: counts.frames,
                framesDropped: counts.framesDropped, bytesDropped: counts.bytesDropped)
        }
    }
}
