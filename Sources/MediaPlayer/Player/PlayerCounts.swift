import IoTCore
import NIOCore

/// What a player counts: for itself, and for each of its uses from the moment that the use plays.
///
/// Confined to the player's event loop.
final class PlayerCounts {
    private final class Use {
        var isPlaying = false
        var statistics: PlayoutStatistics?
        /// The first picture that was decoded since this use joined, µs.
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

    /// The statistics of the use begin with the player's, or now when it plays already.
    func play(_ id: String) {
        uses[id]?.isPlaying = true
    }

    /// The player begins to play.
    func begin(at now: NIODeadline) {
        startedAt = now
        countedSkips = 0
        whole = PlayoutStatistics(startedAt: now)
    }

    /// Statistics begin for those uses that play and have none.
    func beginUses(report: JitterBufferReport?, packets: [MediaKind: PacketCounters], at now: NIODeadline) {
        let beginning = uses.values.filter { $0.isPlaying && $0.statistics == nil }
        guard let startedAt, !beginning.isEmpty else { return }
        update(report: report, packets: packets)
        let baseline = PlayoutBaseline(startedAt: startedAt, report: report, packets: packets)
        for use in beginning { use.statistics = PlayoutStatistics(startedAt: now, after: baseline) }
    }

    /// Changes the player's statistics and those of each use that plays.
    func count(_ change: (inout PlayoutStatistics) -> Void) {
        if whole != nil { change(&whole!) }
        for use in uses.values where use.statistics != nil { change(&use.statistics!) }
    }

    /// Changes the player's statistics and those of this use alone.
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
            // What came between a lost picture and the next key frame is lost with it.
            let skipped = report.skippedFrames - countedSkips
            count { $0.framesDropped(.video, .lost, count: skipped) }
            countedSkips = report.skippedFrames
        }
        for (kind, packets) in packets { count { $0.update(kind, packets: packets) } }
    }

    func firstPicturePts(of id: String) -> Int64? { uses[id]?.firstPicturePts }

    /// - Parameter id: a use; `nil` for the player. `nil` before it plays.
    func snapshot(of id: String?, at now: NIODeadline) -> ChannelStatistics? {
        guard let id else { return whole?.snapshot(at: now) }
        return uses[id]?.statistics?.snapshot(at: now)
    }

    /// The uses that have statistics.
    var counted: [String] { uses.filter { $0.value.statistics != nil }.map(\.key) }
}
