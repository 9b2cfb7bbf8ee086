import IoTCore
import Logging
import MediaPlayer
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import MediaChannel

@Suite struct CameraStreamTests {
    private let loop = EmbeddedEventLoop()
    private let stream: CameraStream
    private let video = VideoParameters(codec: .h264, parameterSets: [], width: 16, height: 16)

    init() {
        stream = CameraStream(
            eventLoop: loop, maximumViewers: 8, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) {}
    }

    private final class Outcome: Sendable {
        let text = Mutex("waits")
    }

    private func outcome(_ future: EventLoopFuture<Void>) -> () -> String {
        let outcome = Outcome()
        future.whenComplete { result in
            outcome.text.withLock { text in
                switch result {
                case .success: text = "done"
                case .failure(let error): text = (error as? IoTError)?.code.name ?? "\(error)"
                }
            }
        }
        return {
            loop.run()
            return outcome.text.withLock { $0 }
        }
    }

    private func keyFrame() -> MediaFrame {
        // One slice NAL unit of type 5 after its length.
        MediaFrame(kind: .video, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: [0, 0, 0, 2, 0x65, 0x88]))
    }

    @Test("Waits for a picture end with the first key frame; waits for the tracks end before that")
    func picture() {
        let picture = outcome(stream.untilPicture(within: .seconds(10)))
        let tracks = outcome(stream.main.untilReady())
        #expect(picture() == "waits" && tracks() == "waits")
        stream.main.handle(.opened(video: video, audio: nil))
        #expect(picture() == "waits" && tracks() == "done")
        stream.main.handle(.frame(keyFrame()))
        #expect(picture() == "done")
        #expect(outcome(stream.untilPicture(within: .seconds(10)))() == "done")
        // A reconnected source has no picture until its first one: the old one is not current.
        stream.main.handle(.opened(video: video, audio: nil))
        #expect(outcome(stream.untilPicture(within: .seconds(10)))() == "waits")
    }

    @Test("No wait exceeds its timeout or continues after a failure, an end, or if the source has no pictures")
    func ends() {
        let late = outcome(stream.untilPicture(within: .seconds(10)))
        loop.advanceTime(by: .seconds(9))
        #expect(late() == "waits")
        loop.advanceTime(by: .seconds(1))
        #expect(late() == "messageTimeout")
        let failed = outcome(stream.untilPicture(within: .seconds(10)))
        stream.main.handle(.failed(IoTError(.sourceRefused, "rtsp://secret"), retryAfter: .seconds(1)))
        #expect(failed() == "sourceRefused")
        #expect(outcome(stream.untilPicture(within: .seconds(10)))() == "sourceRefused")
        stream.main.handle(.opened(video: nil, audio: AudioParameters(codec: .pcma, sampleRate: 8000, channels: 1)))
        #expect(outcome(stream.untilPicture(within: .seconds(10)))() == "operationNotAllowed")
        stream.turn(on: false)
        #expect(outcome(stream.untilPicture(within: .seconds(10)))() == "cameraOff")
    }

    @Test("Waits for the tracks end after 10 s, and their places are free again")
    func tracksTooLate() {
        let waits = (0..<64).map { _ in outcome(stream.main.untilReady()) }
        #expect(outcome(stream.main.untilReady())() == "tooManyRequests")
        loop.advanceTime(by: .seconds(10))
        #expect(waits.allSatisfy { $0() == "messageTimeout" })
        #expect(outcome(stream.main.untilReady())() == "waits")
    }

    @Test("A removed camera fails every wait, before and after its end")
    func closed() {
        let before = outcome(stream.main.untilReady())
        stream.close()
        #expect(before() == "stopping")
        #expect(outcome(stream.main.untilReady())() == "stopping")
        #expect(outcome(stream.untilPicture(within: .seconds(10)))() == "stopping")
    }

    @Test("The start of a state stays the same during retries, and changes with the next state")
    func since() {
        stream.main.handle(.failed(IoTError(.sourceUnreachable), retryAfter: .seconds(1)))
        let began = stream.since
        stream.main.handle(.connecting)
        stream.main.handle(.failed(IoTError(.sourceRefused), retryAfter: .seconds(1)))
        #expect(stream.since == began)
        stream.main.handle(.opened(video: video, audio: nil))
        #expect(stream.since >= began)
        let ready = stream.since
        stream.turn(on: false)
        #expect(stream.since >= ready)
    }
}
