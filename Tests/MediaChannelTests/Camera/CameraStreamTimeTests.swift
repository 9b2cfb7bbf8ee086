import IoTCore
import Logging
import MediaPlayer
import NIOCore
import NIOEmbedded
import Testing

@testable import MediaChannel

/// Tests a camera's stream on a loop with virtual time.
@Suite struct CameraStreamTimeTests {
    private let loop = EmbeddedEventLoop()
    private let video = VideoParameters(codec: .h264, parameterSets: [], width: 16, height: 16)

    private func stream(
        wallClock: @escaping () -> Int64 = { 0 }, onChange: @escaping () -> Void = {}
    ) -> CameraStream {
        CameraStream(
            eventLoop: loop, maximumViewers: 8, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            wallClock: wallClock, onChange: onChange)
    }

    private func picture(_ index: Int64) -> MediaFrame {
        MediaFrame(
            kind: .video, isKeyFrame: index % 25 == 0, pts: index * 40_000, dts: index * 40_000,
            bytes: ByteBuffer(bytes: [0, 0, 0, 2, index % 25 == 0 ? 0x65 : 0x41, 0x88]))
    }

    @Test("The measurements in the model change once per second, however many frames come")
    func measures() {
        var changes = 0
        let stream = stream(onChange: { changes += 1 })
        stream.main.handle(.opened(video: video, audio: nil))
        changes = 0
        for index in 0..<251 as Range<Int64> {
            stream.main.handle(.frame(picture(index)))
            loop.advanceTime(by: .milliseconds(40))
        }
        #expect(changes == 10)
        #expect(stream.main.measurement.video?.frameRate.rounded() == 25)
    }

    @Test("If the source's clock drifts, it is mapped to the wall clock again, by the frame with the least delay")
    func drift() {
        var wall: Int64 = 1_800_000_000_000_000
        let stream = stream(wallClock: { wall })
        stream.main.handle(.opened(video: video, audio: nil))
        // The source's clock is fast by 1,000 ppm: 0.2 s in 200 s. Each second key frame comes 30 ms late.
        for second in 0..<200 as Range<Int64> {
            let delay: Int64 = second % 2 == 1 ? 30_000 : 0
            wall = 1_800_000_000_000_000 + second * 999_000 + delay
            stream.main.handle(
                .frame(
                    MediaFrame(
                        kind: .video, isKeyFrame: true, pts: second * 1_000_000, dts: second * 1_000_000,
                        bytes: ByteBuffer(bytes: [0, 0, 0, 2, 0x65, 0x88]))))
            loop.advanceTime(by: .seconds(1))
        }
        let clock = stream.main.clock ?? (0, 0)
        #expect(clock.pts >= 100_000_000)
        #expect(clock.wall - clock.pts == 1_800_000_000_000_000 - clock.pts / 1_000)
    }

    @Test("The newest picture has the loop's time; within 60 s only the first frame maps its clock to the wall clock")
    func clocks() {
        var wall: Int64 = 1_800_000_000_000_000
        let stream = stream(wallClock: { wall })
        stream.main.handle(.opened(video: video, audio: nil))
        for index in 0..<50 as Range<Int64> {
            stream.main.handle(.frame(picture(index)))
            loop.advanceTime(by: .milliseconds(40))
            wall += 40_000
        }
        #expect(stream.main.newest?.pts == Int64(1_960_000))
        #expect(stream.main.newest?.time == loop.now - .milliseconds(40))
        #expect(stream.main.clock?.pts == 0 && stream.main.clock?.wall == 1_800_000_000_000_000)
        wall = 1_900_000_000_000_000
        stream.turn(on: false)
        #expect(stream.since == 1_900_000_000_000)
    }

    @Test("A tap gets each frame unchanged until it is removed, even while the camera is off")
    func taps() {
        let stream = stream()
        var seen: [Int64] = []
        stream.main.handle(.opened(video: video, audio: nil))
        let tap = stream.main.taps.add { seen.append($0.pts) }
        stream.main.handle(.frame(picture(0)))
        stream.turn(on: false)
        stream.main.handle(.frame(picture(1)))
        stream.main.taps.remove(tap)
        stream.main.handle(.frame(picture(2)))
        #expect(seen == [0, 40_000])
    }
}
