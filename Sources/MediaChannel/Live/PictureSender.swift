import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore
import RTP

/// Sends a program's pictures in a live call as H.264, at most at the rate of their source. Confined to the channel's
/// event loop; the encoder runs on a thread of its own.
final class PictureSender {
    /// The encoder, which is used only on its thread.
    ///
    /// `@unchecked Sendable` for that reason.
    private final class Encoder: @unchecked Sendable {
        private let make: () throws(IoTError) -> any ShownPictureEncoder
        private var encoder: (any ShownPictureEncoder)?

        init(_ make: @escaping () throws(IoTError) -> any ShownPictureEncoder) {
            self.make = make
        }

        func encode(_ picture: VideoPicture, at time: Int64) throws(IoTError) -> MediaFrame? {
            if let encoder { return try encoder.encode(picture, at: time) }
            let encoder = try make()
            self.encoder = encoder
            return try encoder.encode(picture, at: time)
        }
    }

    static let codec = RTPCodec(.video(VideoParameters(codec: .h264, parameterSets: [])), payloadType: 96)

    /// Pictures that may wait for the encoder. If it is slower, pictures are left out, so the delay does not grow.
    private static let maximumWaiting = 1

    private let eventLoop: any EventLoop
    private let source: any PictureSource
    private let interval: TimeAmount
    private let send: ([MediaPacket]) -> Void
    private let onEnd: (IoTError?) -> Void
    private let encoder: Encoder
    private let worker: any JobQueue
    private var packetizer = Packetizer(codec: PictureSender.codec)
    private let start: NIODeadline
    private var hasEnded = false
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - send: Sends packets to the device.
    ///   - onEnd: Called once: `nil` when the source has finished, or with the reason.
    init(
        _ source: any PictureSource, eventLoop: any EventLoop, parts: PlayerParts,
        send: @escaping ([MediaPacket]) -> Void, onEnd: @escaping (IoTError?) -> Void
    ) {
        self.eventLoop = eventLoop
        self.source = source
        self.send = send
        self.onEnd = onEnd
        let rate = source.frameRate.isFinite ? min(max(source.frameRate, 1), 120) : 1
        interval = .nanoseconds(Int64(1_000_000_000 / rate))
        let make = parts.pictureEncoder
        encoder = Encoder { () throws(IoTError) in
            guard let make else { return LivePictureEncoder(frameRate: rate) }
            return try make()
        }
        worker = parts.jobQueue("picture", Self.maximumWaiting)
        start = eventLoop.now
    }

    deinit { worker.stop() }

    /// Takes a picture, and schedules the next.
    func run() {
        guard !hasEnded else { return }
        if let picture = source.take() { encode(picture) }
        switch source.end {
        case nil: break
        case .finished: return finish()
        case .failed(let error): return end(error)
        }
        timer = eventLoop.assumeIsolated().scheduleTask(in: interval) { [weak self] in self?.run() }
    }

    private func encode(_ picture: VideoPicture) {
        let pts = (eventLoop.now - start).nanoseconds / 1_000
        let sender = NIOLoopBound(self, eventLoop: eventLoop)
        worker.submit(patience: 0, beyondLimit: false) { [encoder, eventLoop] in
            let result: Result<MediaFrame?, IoTError>
            do throws(IoTError) {
                result = .success(try encoder.encode(picture, at: pts))
            } catch {
                result = .failure(error)
            }
            eventLoop.execute { sender.value.take(result, pts: pts) }
        }
    }

    private func take(_ result: Result<MediaFrame?, IoTError>, pts: Int64) {
        guard !hasEnded else { return }
        do throws(IoTError) {
            guard var frame = try result.get() else { return }
            (frame.pts, frame.dts) = (pts, pts)
            send(try packetizer.packetize(frame))
        } catch {
            end(IoTError(.notImplemented, "the encoder of the picture failed: \(error.message)", underlying: error))
        }
    }

    /// Everything was taken. What the encoder still has is sent.
    private func finish() {
        let sender = NIOLoopBound(self, eventLoop: eventLoop)
        worker.submit(patience: 0, beyondLimit: true) { [eventLoop] in
            eventLoop.execute { sender.value.end(nil) }
        }
    }

    /// - Parameter reason: `nil` if nothing failed.
    func end(_ reason: IoTError?) {
        guard !hasEnded else { return }
        hasEnded = true
        timer?.cancel()
        timer = nil
        source.close()
        worker.stop()
        onEnd(reason)
    }
}
