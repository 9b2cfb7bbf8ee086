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
        let encoder: any SpokenSoundEncoder
        init(_ parts: PlayerParts) throws(IoTError) {
            guard let make = parts.speechEncoder else {
                encoder = try SpeechEncoder()
                return
            }
            do throws(IoTError) {
                encoder = try make()
            } catch {
                throw Self.failed(error)
            }
        }

        static func failed(_ error: IoTError) -> IoTError {
            IoTError(.notImplemented, "the encoder of the talk failed: \(error.message)", underlying: error)
        }
    }

    /// The source can be read at any time, so little waits here.
    private static let target = TimeAmount.milliseconds(20)
    /// Frames that may wait for the encoder: a second.
    private static let maximumWaiting = 50

    private let eventLoop: any EventLoop
    private let source: any SpeechSource
    private let send: ([MediaPacket]) -> Void
    private let onSpeech: ([Int16]) -> Void
    private let onEnd: (Result<TalkSummary, IoTError>) -> Void
    private let encoder: Encoder
    /// Whether the program supplied the encoder. A supplied one that fails ends the talk.
    private let isEncoderGiven: Bool
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
    ///   - onSpeech: called with what is being said, 20 ms at a time.
    ///   - onEnd: called once: when everything was sent, or with the reason of `end`.
    init(
        _ source: any SpeechSource, codec: RTPCodec, eventLoop: any EventLoop, parts: PlayerParts,
        send: @escaping ([MediaPacket]) -> Void, onSpeech: @escaping ([Int16]) -> Void = { _ in },
        onEnd: @escaping (Result<TalkSummary, IoTError>) -> Void
    ) throws(IoTError) {
        self.eventLoop = eventLoop
        self.source = source
        self.send = send
        self.onSpeech = onSpeech
        self.onEnd = onEnd
        encoder = try Encoder(parts)
        isEncoderGiven = parts.speechEncoder != nil
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
            onSpeech(frame.samples)
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
            let result: Result<[UInt8]?, IoTError>
            do throws(IoTError) {
                result = .success(try encoder.encoder.encode(frame.samples))
            } catch {
                result = .failure(error)
            }
            eventLoop.execute { sender.value.take(result, pts: pts) }
        }
    }

    private func take(_ result: Result<[UInt8]?, IoTError>, pts: Int64) {
        guard !hasEnded else { return }
        if case .failure(let error) = result, isEncoderGiven { return end(Encoder.failed(error)) }
        guard let packet = try? result.get() else {
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
