import IoTCore
import NIOCore

/// A player's counters: for the whole player, and for each use from the moment that it plays.
///
/// Confined to the player's event loop.
final class PlayerCounts {
    private final class Use {
        var isPlaying = false
        var statistics: PlayoutStatistics?
        /// The first picture decoded after this use joined, µs.
        var firstPicturePts: Int64?
    }

    private var whole: PlayoutStatistics?
    private var uses: [String: Use] = [:]
    private var startedAt: NIODeadline?
    private var countedSkips = 0

    func join(_ id: String) {
        uses[id] = Use()
    }

    func leave(_ id: String) {
        uses[id] = nil
    }

    func has(_ id: String) -> Bool { uses[id] != nil }

    /// The use's statistics start with the player's, or now if the player already plays.
    func play(_ id: String) {
        uses[id]?.isPlaying = true
    }

    /// The player begins to play.
    func begin(at now: NIODeadline) {
        startedAt = now
        countedSkips = 0
        whole = PlayoutStatistics(startedAt: now)
    }

    /// Starts statistics for the uses that play and have none yet.
    func beginUses(report: JitterBufferReport?, packets: [MediaKind: PacketCounters], at now: NIODeadline) {
        let beginning = uses.values.filter { $0.isPlaying && $0.statistics == nil }
        guard let startedAt, !beginning.isEmpty else { return }
        update(report: report, packets: packets)
        let baseline = PlayoutBaseline(startedAt: startedAt, report: report, packets: packets)
        for use in beginning { use.statistics = PlayoutStatistics(startedAt: now, after: baseline) }
    }

    /// Changes the player's statistics and those of every playing use.
    func count(_ change: (inout PlayoutStatistics) -> Void) {
        if whole != nil { change(&whole!) }
        for use in uses.values where use.statistics != nil { change(&use.statistics!) }
    }

    /// Changes the player's statistics and those of this use only.
    func count(for use: String?, _ change: (inout PlayoutStatistics) -> Void) {
        if whole != nil { change(&whole!) }
        if let use = use.flatMap({ uses[$0] }), use.statistics != nil { change(&use.statistics!) }
    }

    func pictureDecoded(pts: Int64) {
        for use in uses.values where use.firstPicturePts == nil { use.firstPicturePts = pts }
    }

    func update(report: JitterBufferReport?, packets: [MediaKind: PacketCounters]) {
        if let report {
            count { $0.update(report) }
            // Pictures between a lost one and the next key frame are lost too.
            let skipped = report.skippedFrames - countedSkips
            count { $0.framesDropped(.video, .lost, count: skipped) }
            countedSkips = report.skippedFrames
        }
        for (kind, packets) in packets { count { $0.update(kind, packets: packets) } }
    }

    func firstPicturePts(of id: String) -> Int64? { uses[id]?.firstPicturePts }

    /// - Parameter id: a use; `nil` for the player.
    /// - Returns: `nil` before it plays.
    func snapshot(of id: String?, at now: NIODeadline) -> ChannelStatistics? {
        guard let id else { return whole?.snapshot(at: now) }
        return uses[id]?.statistics?.snapshot(at: now)
    }

    /// The uses that have statistics.
    var counted: [String] { uses.filter { $0.value.statistics != nil }.map(\.key) }
}
