import GatewayAPI

/// The rate of received pictures, from the statistics of each second. The first seconds are left out, because older
/// pictures come at once at the start.
struct PictureRate {
    private static let skipped = 2

    private var count = 0
    private var first: (time: Int64, frames: Int)?
    private var last: (time: Int64, frames: Int)?

    mutating func take(_ report: StatisticsReport) {
        count += 1
        guard count > Self.skipped, let frames = report.video?.framesReceived else { return }
        first = first ?? (report.timestamp, frames)
        last = (report.timestamp, frames)
    }

    /// `nil` before two reports that are a second apart.
    var perSecond: Double? {
        guard let first, let last, last.time - first.time >= 900 else { return nil }
        return Double(last.frames - first.frames) * 1000 / Double(last.time - first.time)
    }
}
