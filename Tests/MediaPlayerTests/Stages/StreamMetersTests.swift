import IoTCore
import NIOCore
import Testing

@testable import MediaPlayer

@Suite struct StreamMetersTests {
    private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

    private func frame(_ kind: MediaKind, _ pts: Int64, isKeyFrame: Bool = false) -> MediaFrame {
        MediaFrame(kind: kind, isKeyFrame: isKeyFrame, pts: pts, dts: pts, bytes: ByteBuffer())
    }

    @Test("The processing time is that of the same pts, and pictures count before sound")
    func processing() {
        var meter = ProcessingMeter()
        #expect(meter.percentiles == nil)
        meter.received(.audio, pts: 7, at: start)
        meter.shown(.audio, pts: 7, at: start + .milliseconds(30))
        #expect(meter.percentiles == ProcessingTime(p50: 0.03, p95: 0.03))
        for index in 0..<100 as Range<Int64> {
            meter.received(.video, pts: index, at: start + .milliseconds(index * 40))
            meter.shown(.video, pts: index, at: start + .milliseconds(index * 40 + (index >= 94 ? 500 : 84)))
        }
        meter.shown(.video, pts: 5_000, at: start)
        #expect(meter.percentiles == ProcessingTime(p50: 0.084, p95: 0.5))
    }

    @Test("Frames that are never shown do not accumulate")
    func bounded() {
        var meter = ProcessingMeter()
        for index in 0..<100_000 as Range<Int64> { meter.received(.video, pts: index, at: start) }
        meter.shown(.video, pts: 99_999, at: start + .seconds(1))
        #expect(meter.percentiles == ProcessingTime(p50: 1, p95: 1))
        meter.shown(.video, pts: 1, at: start)
        #expect(meter.percentiles == ProcessingTime(p50: 1, p95: 1))
    }

    @Test("The distance of key frames is the longest one, also while the next key frame is awaited")
    func keyFrames() {
        var meter = KeyFrameMeter()
        #expect(meter.distance == nil)
        for second in 0..<8 as Range<Int64> {
            meter.add(frame(.video, second * 1_000_000, isKeyFrame: second == 0 || second == 2))
        }
        #expect(meter.distance == 5_000_000)
        meter.add(frame(.video, 8_000_000, isKeyFrame: true))
        #expect(meter.distance == 6_000_000)
        // A jump of the clock does not count as a distance.
        meter.add(frame(.video, 900_000_000, isKeyFrame: true))
        #expect(meter.distance == 6_000_000)
    }

    @Test("Sound and picture that are too far apart are reported once, after a while")
    func apart() {
        var meters = StreamMeters()
        var warnings: [Double] = []
        for index in 0..<1_000 as Range<Int64> {
            let now = start + .milliseconds(index * 20)
            meters.received(frame(.video, index), senderTime: index * 20_000 + 1_400_000, at: now)
            meters.received(frame(.audio, index), senderTime: index * 20_000, at: now)
            if let warning = meters.takeWarning(at: now) { warnings.append(warning) }
            if index == 200 { #expect(warnings.isEmpty) }
        }
        #expect(warnings == [1.4] && meters.distance.seconds == 1.4)
    }

    @Test("At the start older frames come at once: that is no distance")
    func backlog() {
        var meters = StreamMeters()
        for index in 0..<500 as Range<Int64> {
            let now = start + .milliseconds(index < 100 ? 0 : (index - 100) * 40)
            meters.received(frame(.video, index), senderTime: index * 40_000, at: now)
            if index >= 100 { meters.received(frame(.audio, index), senderTime: index * 40_000, at: now) }
            #expect(meters.takeWarning(at: now) == nil)
        }
    }

    @Test(
        "The route's name",
        arguments: [
            ("host", "host", "host"), ("host", "prflx", "srflx"), ("srflx", "host", "srflx"),
            ("relay", "host", "relay"),
            ("srflx", "relay", "relay"),
        ])
    func route(local: String, remote: String, name: String) {
        #expect(SourceRoute(local: local, remote: remote).name == name)
    }
}
