import IoTCore
import Logging
import MediaCodec
import NIOCore

/// What the decoding thread tells the channel.
enum DecodeEvent: Sendable {
    /// A picture came out of the decoder.
    case picture(pts: Int64, presentAt: NIODeadline, isLate: Bool, decodedAt: NIODeadline, width: Int, height: Int)
    case sound(pts: Int64, presentAt: NIODeadline)
    case corrupt(MediaKind)
    case slowReader(frames: Int)
}

/// Decodes a channel's frames on a thread of its own and hands the outcome to the sinks; several local users share
/// one stage.
///
/// `@unchecked Sendable`: all mutable state is used on `worker` alone.
final class DecodeStage: @unchecked Sendable {
    /// How many coded frames may wait: about 12 s of pictures and sound.
    static let queueLimit = 1_200

    private let worker: SerialWorker
    private let onEvent: @Sendable (DecodeEvent) -> Void
    private let logger: Logger

    private var videoParameters: VideoParameters?
    private var audioParameters: AudioParameters?
    private var videoDecoder: VideoDecoder?
    private var audioDecoder: AudioDecoder?
    private var schedule: [Int64: (presentAt: NIODeadline, isLate: Bool)] = [:]
    private var pictureSinks: [any PictureSink] = []
    private var soundSinks: [any SoundSink] = []
    private var newest: VideoPicture?
    private var isEnded = false

    init(
        video: VideoParameters?, audio: AudioParameters?, logger: Logger,
        onEvent: @escaping @Sendable (DecodeEvent) -> Void
    ) {
        videoParameters = video
        audioParameters = audio
        self.logger = logger
        self.onEvent = onEvent
        worker = SerialWorker(name: "decoder", limit: Self.queueLimit)
    }

    /// False when too many frames wait: this one is lost, and with it all up to the next key frame.
    func decode(_ frame: MediaFrame, presentAt: NIODeadline, isLate: Bool) -> Bool {
        worker.submit { [self] in
            switch frame.kind {
            case .video: decodeVideo(frame, presentAt: presentAt, isLate: isLate)
            case .audio: decodeAudio(frame, presentAt: presentAt)
            }
        }
    }

    /// Frames are missing: what follows cannot be decoded before the next key frame.
    func skipToKeyFrame() {
        worker.submit { [self] in videoDecoder?.skipToKeyFrame() }
    }

    /// Pictures still in the decoder come out; the next frame begins anew.
    func drain() {
        worker.submit { [self] in drainDecoders() }
    }

    /// The sink gets each picture from now on.
    func add(_ sink: any PictureSink & Sendable) {
        worker.submit { [self] in isEnded ? sink.end(nil) : pictureSinks.append(sink) }
    }

    /// The sink gets the newest picture at once, or the next one.
    func addForOnePicture(_ sink: any PictureSink & Sendable) {
        let accepted = worker.submit { [self] in
            if isEnded { return sink.end(nil) }
            guard let newest, !sink.take(newest, report: report) else { return pictureSinks.append(sink) }
        }
        if !accepted { sink.end(IoTError(.tooManyRequests)) }
    }

    func add(_ sink: any SoundSink & Sendable) {
        worker.submit { [self] in isEnded ? sink.end(nil) : soundSinks.append(sink) }
    }

    /// Ends every sink and then the thread.
    func end(_ reason: IoTError?) {
        worker.submit { [self] in
            drainDecoders()
            isEnded = true
            pictureSinks.forEach { $0.end(reason) }
            soundSinks.forEach { $0.end(reason) }
            pictureSinks = []
            soundSinks = []
            newest = nil
        }
        worker.stop()
    }

    // MARK: On the worker

    private func decodeVideo(_ frame: MediaFrame, presentAt: NIODeadline, isLate: Bool) {
        do throws(IoTError) {
            if videoDecoder == nil, let videoParameters {
                videoDecoder = try VideoDecoder(videoParameters, threads: 1)
            }
            guard let videoDecoder else { return }
            schedule[frame.pts] = (presentAt, isLate)
            deliver(try videoDecoder.decode(frame))
        } catch {
            onEvent(.corrupt(.video))
        }
    }

    private func deliver(_ pictures: [VideoPicture]) {
        for picture in pictures {
            let plan = schedule.removeValue(forKey: picture.pts)
            if schedule.count > 64 { schedule = schedule.filter { $0.key > picture.pts } }
            if picture.isCorrupt {
                onEvent(.corrupt(.video))
                continue
            }
            let now = NIODeadline.now()
            onEvent(
                .picture(
                    pts: picture.pts, presentAt: plan?.presentAt ?? now, isLate: plan?.isLate ?? true, decodedAt: now,
                    width: picture.width, height: picture.height))
            newest = picture
            pictureSinks.removeAll { !$0.take(picture, report: report) }
        }
    }

    private func decodeAudio(_ frame: MediaFrame, presentAt: NIODeadline) {
        do throws(IoTError) {
            if audioDecoder == nil, let audioParameters { audioDecoder = try AudioDecoder(audioParameters) }
            guard let audioDecoder else { return }
            for sound in try audioDecoder.decode(frame) {
                onEvent(.sound(pts: sound.pts, presentAt: presentAt))
                soundSinks.removeAll { !$0.take(sound, report: report) }
            }
        } catch {
            onEvent(.corrupt(.audio))
        }
    }

    private func drainDecoders() {
        if let videoDecoder {
            deliver(videoDecoder.flush())
            videoDecoder.reset()
        }
        schedule.removeAll()
    }

    private func report(_ report: SinkReport) {
        switch report {
        case .slowReader(let frames): onEvent(.slowReader(frames: frames))
        }
    }
}
