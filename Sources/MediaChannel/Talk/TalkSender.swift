import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore
import RTP

/// Sends what a local user says as Opus in packets of 20 ms, at the pace of the monotonic clock; silence replaces what
/// the source has not delivered. Confined to the channel's event loop; the encoder runs on a thread of its own.
final class TalkSender {
    /// The encoder, which is used only on its thread.
    ///
    /// `@unchecked Sendable` for that reason.
    private final class Encoder: @unchecked Sendable {
        let encoder: SpeechEncoder
        init() throws(IoTError) { encoder = try SpeechEncoder() }
    }

    /// The source can be read at any time, so little waits here.
    private static let target = TimeAmount.milliseconds(20)
    /// Frames that may wait for the encoder: a second.
    private static let maximumWaiting = 50

    private let eventLoop: any EventLoop
    private let source: any SpeechSource
    private let send: ([MediaPacket]) -> Void
    private let onEnd: (Result<TalkSummary, IoTError>) -> Void
    private let encoder: Encoder
    private let worker: any JobQueue
    private var packetizer: Packetizer
    private var pacer: SpeechPacer
    private let start: NIODeadline
    private var summary = TalkSummary()
    /// The previous frame was not sent: the next packet begins a talk spurt (RFC 7587 §4.1).
    private var wasSilent = true
    private var isFinishing = false
    private var hasEnded = false
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - codec: what the device accepts.
    ///   - send: sends packets in the section.
    ///   - onEnd: called once: when everything was sent, or with the reason of `end`.
    init(
        _ source: any SpeechSource, codec: RTPCodec, eventLoop: any EventLoop, parts: PlayerParts,
        send: @escaping ([MediaPacket]) -> Void, onEnd: @escaping (Result<TalkSummary, IoTError>) -> Void
    ) throws(IoTError) {
        self.eventLoop = eventLoop
        self.source = source
        self.send = send
        self.onEnd = onEnd
        encoder = try Encoder()
        worker = parts.jobQueue("talk", Self.maximumWaiting)
        packetizer = Packetizer(codec: codec)
        start = eventLoop.now
        pacer = SpeechPacer(SpeechPacer.Options(target: Self.target), start: start)
    }

    deinit { worker.stop() }

    /// Sends the frames that are due, and waits for the next.
    func run() {
        let now = eventLoop.now
        while !hasEnded, pacer.nextDue <= now {
            refill(at: now)
            guard !hasEnded, let frame = pacer.nextFrame(at: now) else { break }
            if frame.isSilent, isFinishing { return finish() }
            encode(frame)
        }
        guard !hasEnded else { return }
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: pacer.nextDue) { [weak self] in self?.run() }
    }

    private func refill(at now: NIODeadline) {
        // Sound that comes at its own pace is taken whole, so that the pacer follows its clock.
        let count = source.isLive ? .max : pacer.shortfall + SpeechFormat.frameLength
        let samples = source.take(count)
        if !samples.isEmpty { pacer.push(samples, at: now) }
        guard !isFinishing else { return }
        switch source.end {
        case nil: break
        case .finished:
            isFinishing = true
            pacer.finish()
        case .failed(let error): end(error)
        }
    }

    private func encode(_ frame: SpeechPacer.Frame) {
        let pts = (frame.due - start).nanoseconds / 1_000
        let sender = NIOLoopBound(self, eventLoop: eventLoop)
        worker.submit(patience: 0, beyondLimit: false) { [encoder, eventLoop] in
            let packet = frame.samples.withUnsafeBufferPointer { try? encoder.encoder.encode($0) }
            eventLoop.execute { sender.value.take(packet ?? nil, pts: pts) }
        }
    }

    private func take(_ packet: [UInt8]?, pts: Int64) {
        guard !hasEnded else { return }
        guard let packet else {
            wasSilent = true
            return
        }
        let frame = MediaFrame(
            kind: .audio, isKeyFrame: true, pts: pts, dts: pts, isDiscontinuity: wasSilent,
            bytes: ByteBuffer(bytes: packet))
        wasSilent = false
        guard let packets = try? packetizer.packetize(frame) else { return }
        summary.packets += packets.count
        send(packets)
    }

    /// Everything was sent, but for what the encoder still has.
    private func finish() {
        let sender = NIOLoopBound(self, eventLoop: eventLoop)
        worker.submit(patience: 0, beyondLimit: true) { [eventLoop] in
            eventLoop.execute { sender.value.end(nil) }
        }
    }

    /// - Parameter reason: `nil` if the talk is complete.
    func end(_ reason: IoTError?) {
        guard !hasEnded else { return }
        hasEnded = true
        timer?.cancel()
        timer = nil
        source.close()
        worker.stop()
        summary.duration = eventLoop.now - start
        summary.underruns = pacer.counters.underruns
        onEnd(reason.map { .failure($0) } ?? .success(summary))
    }
}
