import IoTCore
import Logging
import MediaCodec
import MediaPlayer
import MediaTestSupport
import NIOCore
import NIOEmbedded
import RTP
import Synchronization

@testable import MediaChannel

/// A whole talk in virtual time: a sender's queue, pacer and encoder; a seeded link; the camera's receiver, jitter
/// buffer, decoder and pacer; a loudspeaker that keeps what it plays. The sender's clock may run at another speed.
///
/// `@unchecked Sendable`: everything is used only on the test's thread.
final class VirtualTalk: @unchecked Sendable {
    static let session = "caller"
    private static let start = NIODeadline.uptimeNanoseconds(10_000_000_000)
    private static let step = TimeAmount.milliseconds(5)

    let senderLoop = EmbeddedEventLoop()
    let cameraLoop = EmbeddedEventLoop()
    private(set) lazy var talk = CameraTalk(
        eventLoop: cameraLoop, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        parts: parts(cameraLoop), makeLoudspeaker: { [unowned self] in loudspeaker }
    ) { [unowned self] in changes += 1 }

    /// What the loudspeaker played, and when it got each frame.
    private(set) var samples: [Int16] = []
    private(set) var times: [NIODeadline] = []
    private(set) var opened = 0
    private(set) var closed = 0
    private(set) var changes = 0
    private(set) var summary: Result<TalkSummary, IoTError>?
    /// Why the loudspeaker has ended by itself.
    var failure: IoTError?
    /// The result of opening the loudspeaker; `nil` leaves it opening.
    var opening: Result<Void, IoTError>? = .success(())

    private var sender: TalkSender?
    private var rtp = RTPSender(codec: TalkSection.codec, ssrc: 7, canonicalName: "t")
    private var receiver: RTPReceiver
    private var link: VirtualLink<ByteBuffer>
    private let speed: Double
    private var time = VirtualTalk.start

    /// - Parameter speed: of the sender's clock, as a factor of the camera's.
    init(link: VirtualLink<ByteBuffer>.Configuration = .init(), speed: Double = 1) throws {
        self.speed = speed
        self.link = VirtualLink(link)
        receiver = try RTPReceiver(
            codecs: [TalkSection.codec],
            configuration: RTPReceiverConfiguration(
                localSSRC: 9, canonicalName: "c", isNACKEnabled: false,
                reorderingTolerance: RTPReceiverConfiguration.speechReorderingTolerance))
        senderLoop.advanceTime(to: Self.start)
        cameraLoop.advanceTime(to: Self.start)
    }

    private func parts(_ loop: EmbeddedEventLoop) -> PlayerParts {
        var parts = PlayerParts()
        parts.clock = { loop.now }
        parts.jobQueue = { _, _ in InlineQueue() }
        return parts
    }

    private var loudspeaker: LoudspeakerHandle {
        LoudspeakerHandle(
            open: { [unowned self] in
                opened += 1
                let promise = cameraLoop.makePromise(of: Void.self)
                if let opening { promise.completeWith(opening.mapError { $0 as any Error }) }
                pending = promise
                return promise.futureResult
            },
            play: { [unowned self] frame in
                samples += frame
                times.append(cameraLoop.now)
            },
            failure: { [unowned self] in failure },
            close: { [unowned self] in
                closed += 1
                return cameraLoop.makeSucceededVoidFuture()
            })
    }

    /// The loudspeaker that is still opening.
    private(set) var pending: EventLoopPromise<Void>?

    /// Begins to send what the source has.
    func speak(_ source: any SpeechSource) throws {
        sender = try TalkSender(
            source, codec: TalkSection.codec, eventLoop: senderLoop, parts: parts(senderLoop),
            send: { [unowned self] in send($0) }, onEnd: { [unowned self] in summary = $0 })
        sender?.run()
    }

    /// Forgets what was played and the last summary.
    func forget() {
        samples = []
        times = []
        summary = nil
    }

    private func send(_ packets: [MediaPacket]) {
        for packet in packets {
            var datagram = ByteBuffer()
            rtp.write(packet, into: &datagram, at: senderLoop.now)
            link.send(datagram, size: datagram.readableBytes, at: time)
        }
    }

    /// Runs both sides.
    func run(for amount: TimeAmount, each body: () -> Void = {}) throws {
        let end = time + amount
        while time < end {
            time = time + Self.step
            cameraLoop.advanceTime(to: time)
            let passed = Double((time - Self.start).nanoseconds) * speed
            senderLoop.advanceTime(to: Self.start + .nanoseconds(Int64(passed)))
            while let datagram = link.receive(at: time) {
                receiver.handle(try RTPPacket(parsing: datagram), at: time)
            }
            receiver.handleTimeout(at: time)
            drain()
            body()
        }
    }

    private func drain() {
        while let output = receiver.poll() {
            switch output {
            case .frame(let frame): talk.take(frame, of: Self.session, at: time)
            case .frameLost: talk.takeLoss(of: Self.session, at: time)
            case .rtcp: break
            case .timeout: return
            }
        }
    }
}
