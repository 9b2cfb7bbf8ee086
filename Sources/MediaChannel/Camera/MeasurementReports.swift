import NIOCore

/// Decides which measurements are reported in the camera's model: another kind of stream at once; another bitrate when
/// the first measuring window is full, and then at most every 30 s. A bitrate always changes a little, and each report
/// is written to the hub's disk and pushed to every subscriber.
struct MeasurementReports: Sendable {
    static let firstPause = TimeAmount.seconds(5)
    static let pause = TimeAmount.seconds(30)

    private(set) var reported = CameraMeasurement()
    private var bitrateDue: NIODeadline?

    mutating func measured(_ measurement: CameraMeasurement, at now: NIODeadline) {
        if measurement.isOtherKind(than: reported) {
            reported = measurement
            bitrateDue = now + Self.firstPause
        } else if let bitrateDue, now >= bitrateDue, measurement.hasOtherBitrate(than: reported) {
            reported = measurement
            self.bitrateDue = now + Self.pause
        }
    }
}
