import IoTCore
import MediaCodec
import MediaPlayer
import MediaTestSupport
import NIOCore
import NIOEmbedded
import RTP
import Testing

@testable import MediaChannel

/// What a program shows in a live call, in virtual time.
@Suite final class PictureSenderTests {
    /// A new picture at each call, until it is told to end.
    ///
    /// `@unchecked Sendable`: everything is used only on the test's thread.
    private final class Slides: PictureSource, @unchecked Sendable {
        let frameRate: Double
        var end: CaptureEnd?
        var hasPictures = true
        private(set) var taken = 0
        private(set) var closings = 0

        init(frameRate: Double) { self.frameRate = frameRate }

        func take() -> VideoPicture? {
            taken += 1
            let bytes = ByteBuffer(repeating: 99, count: 16 * 16 * 3 / 2)
            return hasPictures ? try? VideoPicture(yuv420p: bytes, width: 16, height: 16, pts: 0) : nil
        }

        func close() { closings += 1 }
    }

    private final class Encoder: ShownPictureEncoder {
        private let failure: IoTError?
        private var count = 0

        init(failure: IoTError?) { self.failure = failure }

        func encode(_ picture: VideoPicture, at time: Int64) throws(IoTError) -> MediaFrame? {
            count += 1
            if count == 3, let failure { throw failure }
            // Every fourth picture is left out.
            guard count % 4 != 0 else { return nil }
            let unit: [UInt8] = [0, 0, 0, 3, 0x65, UInt8(count & 0xff), 7]
            return MediaFrame(kind: .video, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: unit))
        }
    }

    private let loop = EmbeddedEventLoop()
    private var packets: [MediaPacket] = []
    /// The codes of the ends; 0 for one without a reason.
    private var ended: [Int] = []
    private var lastReason: IoTError?

    private func sender(
        _ source: Slides, failure: IoTError? = nil, queue: any JobQueue = InlineQueue()
    ) -> PictureSender {
        var parts = PlayerParts()
        parts.pictureEncoder = { Encoder(failure: failure) }
        parts.jobQueue = { _, _ in queue }
        let sender = PictureSender(source, eventLoop: loop, parts: parts) { [unowned self] in
            packets += $0
        } onEnd: { [unowned self] in
            ended.append($0?.code.rawValue ?? 0)
            lastReason = $0
        }
        sender.run()
        return sender
    }

    @Test(
        "Pictures are taken at the source's rate, and sent at their times; without a rate, 16 a second",
        arguments: [(16.0, 32), (5, 10), (0, 2), (.nan, 2), (1_000, 240)])
    func rate(rate: Double, count: Int) {
        let source = Slides(frameRate: rate)
        let sender = sender(source)
        loop.advanceTime(by: .nanoseconds(2_000_000_000 - 10_000))
        #expect(source.taken == count)
        let times = packets.map(\.pts)
        let step = 2_000_000 / Int64(count)
        #expect(times == (0..<Int64(count)).filter { $0 % 4 != 3 }.map { $0 * step } || count == 240)
        sender.end(nil)
        loop.advanceTime(by: .seconds(2))
        #expect(source.taken == count && source.closings == 1 && ended == [0])
    }

    @Test("A source that finishes or fails ends it, after what was taken; so does an encoder that fails, with 21030")
    func ends() throws {
        let finished = Slides(frameRate: 10)
        let first = sender(finished)
        finished.end = .finished
        loop.advanceTime(by: .milliseconds(100))
        #expect(packets.count == 2 && ended == [0] && finished.closings == 1)
        let failed = Slides(frameRate: 10)
        let second = sender(failed)
        failed.end = .failed(IoTError(.sourceBusy))
        loop.advanceTime(by: .milliseconds(100))
        #expect(ended.count == 2 && lastReason?.code == .sourceBusy && failed.closings == 1)
        let source = Slides(frameRate: 10)
        let broken = sender(source, failure: IoTError(.mediaFailed, "no more ink"))
        loop.advanceTime(by: .seconds(1))
        let reason = try #require(lastReason)
        #expect(reason.code == .notImplemented && reason.message.contains("no more ink") && source.taken == 3)
        withExtendedLifetime((first, second)) {}
        broken.end(nil)
        #expect(ended.count == 3 && source.closings == 1)
    }

    /// Takes one job at a time, and runs it when it is told to.
    private final class SlowQueue: JobQueue, @unchecked Sendable {
        private var job: (@Sendable () -> Void)?

        func submit(patience: Int, beyondLimit: Bool, _ job: @escaping @Sendable () -> Void) -> Bool {
            guard self.job == nil else { return false }
            self.job = job
            return true
        }

        func runNext() {
            let next = job
            job = nil
            next?()
        }

        func stop() { job = nil }
    }

    @Test("While the encoder is busy pictures are left out; without new pictures nothing is sent")
    func slowEncoder() {
        let (source, queue) = (Slides(frameRate: 10), SlowQueue())
        let sender = sender(source, queue: queue)
        loop.advanceTime(by: .milliseconds(900))
        queue.runNext()
        loop.run()
        #expect(packets.map(\.pts) == [0])
        loop.advanceTime(by: .milliseconds(100))
        queue.runNext()
        loop.run()
        #expect(packets.map(\.pts) == [0, 1_000_000])
        source.hasPictures = false
        loop.advanceTime(by: .seconds(1))
        queue.runNext()
        loop.run()
        #expect(packets.count == 2 && source.taken > 15)
        sender.end(nil)
    }
}
