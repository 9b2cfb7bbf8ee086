import IoTCore
import IoTLink
import NIOCore
import RecordingStore
import ThingModel

/// Tells the hub when a camera was recorded, so that its users know it while the camera's box is offline.
struct RecordingReporter: Sendable {
    /// The time between two rounds grows from one to the other, because much is new after a start.
    private static let (shortestPeriod, longestPeriod) = (Duration.seconds(1), Duration.seconds(60))
    /// After so long everything is read and told again: recordings may have been removed by hand, and the hub's data may
    /// have been restored from a copy.
    private static let wholePeriod = Duration.seconds(3_600)

    let recordings: CameraRecordings
    let isRecorded: Bool
    let link: any DeviceLink
    let eventLoop: any EventLoop

    /// Ends when the task is cancelled.
    func run() async {
        var known = RecordedTimes(capacity: RecordingSummary.mostStretches)
        var told: RecordingReport?
        var whole = ContinuousClock.now + Self.wholePeriod
        var period = Self.shortestPeriod
        while !Task.isCancelled {
            let ownership = recordings.ownership()
            if told?.ownership != ownership || .now >= whole {
                known = RecordedTimes(capacity: known.capacity)
                told = nil
                whole = .now + Self.wholePeriod
            }
            // What fails now is told in the next round.
            if let ownership, let next = try? await report(ownership, after: known, told) { (known, told) = next }
            try? await Task.sleep(for: period)
            period = min(period * 2, Self.longestPeriod)
        }
    }

    private func report(
        _ ownership: Int64, after known: RecordedTimes, _ told: RecordingReport?
    ) async throws -> (RecordedTimes, RecordingReport) {
        let (times, days) = try await recordings.files.perform(on: eventLoop) { [recordings] () throws(IoTError) in
            try recordings.open().times(after: known)
        }.get()
        var report = RecordingReport(
            ownership: ownership,
            summary: RecordingSummary(
                t: told?.summary.t ?? 0, isRecorded: isRecorded, days: days, precision: times.precision,
                times: times.stretches))
        if report != told {
            report.summary.t = link.hubTime
            _ = try await link.request(RecordingMethod.report, report)
        }
        return (times, report)
    }
}
