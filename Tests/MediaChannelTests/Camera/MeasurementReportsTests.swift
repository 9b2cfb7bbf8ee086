import IoTCore
import NIOCore
import Testing

@testable import MediaChannel

@Suite struct MeasurementReportsTests {
    private func measurement(width: Int = 640, frameRate: Double = 10, bitrate: Int) -> CameraMeasurement {
        var measurement = CameraMeasurement()
        measurement.video = .init(codec: .h264, width: width, height: 480, frameRate: frameRate, bitrate: bitrate)
        return measurement
    }

    @Test("A changing bitrate is reported after five seconds and then every thirty, not every second")
    func bitrate() {
        var reports = MeasurementReports()
        var reported: [Int] = []
        var last = -1
        for second in 0..<100 {
            reports.measured(
                measurement(bitrate: 100_000 + second * 50_000), at: .uptimeNanoseconds(0) + .seconds(Int64(second)))
            let now = reports.reported.video?.bitrate ?? -1
            if now != last { reported.append(second) }
            last = now
        }
        #expect(reported == [0, 5, 35, 65, 95])
    }

    @Test("Another size or frame rate, and the first measured bitrate, are reported at once")
    func kind() {
        var reports = MeasurementReports()
        let start = NIODeadline.uptimeNanoseconds(0)
        reports.measured(measurement(bitrate: 0), at: start)
        reports.measured(measurement(bitrate: 100), at: start + .seconds(1))
        #expect(reports.reported.video?.bitrate == 100)
        reports.measured(measurement(width: 320, bitrate: 100), at: start + .seconds(2))
        #expect(reports.reported.video?.width == 320)
        reports.measured(measurement(width: 320, frameRate: 25, bitrate: 100), at: start + .seconds(3))
        #expect(reports.reported.video?.frameRate == 25)
        reports.measured(CameraMeasurement(), at: start + .seconds(4))
        #expect(reports.reported.video == nil)
    }
}
