import IoTCore
import MediaCodec
import NIOCore
import Synchronization

/// What the decoding thread tells the channel.
enum DecodeEvent: Sendable {
    /// A picture came out of the decoder.
    case picture(DecodedPicture)
    case sound(pts: Int64, presentAt: NIODeadline, isLate: Bool)
    case corrupt(MediaKind)
    /// A decoder that the program gave fails.
    case decoderFailed(MediaKind, IoTError)
    /// A sink's reader is too slow, and frames are dropped from now on.
    case slowReader(SinkKind, use: String?)
}

/// A decoded picture's part in what is shown.
struct DecodedPicture: Sendable {
    /// A picture that the decoder gives out so much later than it was due is not shown any more.
    static let lateness: TimeAmount = .milliseconds(80)

    let pts: Int64
    let isKeyFrame: Bool
    let width: Int
    let height: Int
    let isShown: Bool
    let presentedAt: NIODeadline
    let decodedAt: NIODeadline
}

/// Decodes a channel's frames on a thread of its own and hands the outcome to the queues of the sinks; several local
/// users share one stage.
///
/// `@unchecked Sendable`: all mutable state is used on `worker` alone.
final class DecodeStage: @unchecked Sendable {
    /// How many coded frames may wait: about 12 s of pictures and sound.
    static let queueLimit = 1_200

    /// How many frames of sound that nobody hears may wait for the next picture to wake the thread for both.
    static let silentPatience = 4

    private let worker: any JobQueue
    private let parts: PlayerParts
    private let events: DecodeEvents
    private let onEvents: @Sendable () -> Void
    private let hasPicture: Bool
    /// A sound sink was added. Not behind `worker`: the channel's loop reads it too.
    private let isHeard = Atomic(false)

    private var videoParameters: VideoParameters?
    private var audioParameters: AudioParameters?
    private var videoDecoder: (any PictureDecoder)?
    private var audioDecoder: (any SoundDecoder)?
    private var schedule: [Int64: (presentAt: NIODeadline, isLate: Bool, isKeyFrame: Bool)] = [:]
    private var pictureSinks: [SinkQueue<VideoPicture>] = []
    private var soundSinks: [SinkQueue<HeardMedia>] = []
    private var wishes: [SnapshotWish] = []
    private var newest: VideoPicture?
    /// Encodes snapshots, which takes longer than to decode a picture.
    private var snapshots: (any JobQueue)?
    /// Those of the program's decoders that fail, until they decode again.
    private var failing: Set<MediaKind> = []
    /// Of the newest seek; frames of an earlier one are not decoded any more.
    private let generation = Atomic(0)
    /// Of the frame that is being decoded.
    private var decoding = 0
    private var hasTold = false
    private var isEnding = false
    private var isEnded = false

    /// `onEvents` is called on the decoding thread; somebody is then to look at `events` soon.
    init(
        video: VideoParameters?, audio: AudioParameters?, parts: PlayerParts, events: DecodeEvents,
        onEvents: @escaping @Sendable () -> Void
    ) {
        videoParameters = video
        audioParameters = audio
        hasPicture = video != nil
        self.parts = parts
        self.events = events
        self.onEvents = onEvents
        worker = parts.jobQueue("decoder", Self.queueLimit)
    }

    /// False when too many frames wait: this one is lost, and with it all up to the next key frame.
    func decode(_ frame: MediaFrame, presentAt: NIODeadline, isLate: Bool, generation: Int = 0) -> Bool {
        let isPatient = frame.kind == .audio && hasPicture && !isHeard.load(ordering: .relaxed)
        return worker.submit(patience: isPatient ? Self.silentPatience : 0, beyondLimit: false) { [self] in
            guard generation == self.generation.load(ordering: .relaxed) else { return }
            decoding = generation
            switch frame.kind {
            case .video: decodeVideo(frame, presentAt: presentAt, isLate: isLate)
            case .audio: decodeAudio(frame, presentAt: presentAt, isLate: isLate)
            }
        }
    }

    /// Frames are missing: what follows cannot be decoded before the next key frame.
    func skipToKeyFrame() {
        worker.submit(patience: 0, beyondLimit: true) { [self] in videoDecoder?.reset() }
    }

    /// The user seeks: what was to be decoded is not wanted any more.
    func begin(generation: Int) {
        self.generation.store(generation, ordering: .relaxed)
        events.begin(generation: generation)
        worker.submit(patience: 0, beyondLimit: true) { [self] in
            videoDecoder?.reset()
            schedule.removeAll()
            // The first picture from there is told at once.
            hasTold = false
        }
    }

    /// Pictures still in the decoder come out; decoding starts again at the next frame.
    func drain() {
        worker.submit(patience: 0, beyondLimit: true) { [self] in drainDecoders() }
    }

    /// The sink gets each picture from now on.
    func addPictures(_ sink: SinkQueue<VideoPicture>) {
        add { [self] in
            if isEnded { return sink.end(nil) }
            // Readers that come and go while no picture comes leave nothing behind.
            pictureSinks.removeAll { !$0.isWanted }
            pictureSinks.append(sink)
        }
    }

    /// The sink gets all sound from now on.
    func addSound(_ sink: SinkQueue<HeardMedia>) {
        isHeard.store(true, ordering: .relaxed)
        add { [self] in
            if isEnded { return sink.end(nil) }
            soundSinks.removeAll { !$0.isWanted }
            soundSinks.append(sink)
        }
    }

    /// The wish gets the newest picture, or the next one.
    func addSnapshot(_ wish: SnapshotWish) {
        add { [self] in
            if isEnded { return wish.end(.failure(IoTError(.channelDisconnected))) }
            // Who asks again and again while no picture comes, leaves nothing behind.
            wishes.removeAll { !$0.isOpen }
            wishes.append(wish)
            if let newest { takeSnapshots(of: newest) }
        }
    }

    /// Sinks are few and must not be lost to a full queue.
    private func add(_ job: @escaping @Sendable () -> Void) {
        worker.submit(patience: 0, beyondLimit: true, job)
    }

    /// Ends every sink and then the thread.
    func end(_ reason: IoTError?) {
        worker.submit(patience: 0, beyondLimit: true) { [self] in
            isEnding = true
            drainDecoders()
            isEnded = true
            pictureSinks.forEach { $0.end(reason) }
            soundSinks.forEach { $0.end(reason) }
            wishes.forEach { $0.end(.failure(reason ?? IoTError(.channelDisconnected))) }
            snapshots?.stop()
            pictureSinks = []
            soundSinks = []
            wishes = []
            newest = nil
        }
        worker.stop()
    }

    // MARK: On the worker

    private func decodeVideo(_ frame: MediaFrame, presentAt: NIODeadline, isLate: Bool) {
        do throws(IoTError) {
            if videoDecoder == nil, let videoParameters {
                videoDecoder = try parts.makePictureDecoder(videoParameters)
            }
            guard let videoDecoder else { return }
            schedule[frame.pts] = (presentAt, isLate, frame.isKeyFrame)
            deliver(try videoDecoder.decode(frame, isShown: true))
            failing.remove(.video)
        } catch {
            fail(.video, error, isGiven: parts.pictureDecoder != nil)
        }
    }

    /// The frame is lost; of a decoder that the program gave it is told once until it decodes again.
    private func fail(_ kind: MediaKind, _ error: IoTError, isGiven: Bool) {
        tell(.corrupt(kind))
        if isGiven, failing.insert(kind).inserted { tell(.decoderFailed(kind, error)) }
    }

    private func deliver(_ pictures: [VideoPicture]) {
        for picture in pictures {
            let plan = schedule.removeValue(forKey: picture.pts)
            if schedule.count > 64 { schedule = schedule.filter { $0.key > picture.pts } }
            // A program's decoder may give any time: no difference of two may overflow.
            if picture.isCorrupt || picture.pts.magnitude >= playoutTimeLimit.magnitude {
                tell(.corrupt(.video))
                continue
            }
            let now = parts.clock()
            let presentAt = plan?.presentAt ?? now
            let isShown = plan?.isLate == false && now - presentAt <= DecodedPicture.lateness
            tell(
                .picture(
                    DecodedPicture(
                        pts: picture.pts, isKeyFrame: plan?.isKeyFrame ?? false, width: picture.width,
                        height: picture.height, isShown: isShown, presentedAt: max(presentAt, now),
                        decodedAt: now)), at: now)
            newest = picture
            pictureSinks.removeAll { !$0.give(picture, at: picture.pts, bytes: picture.packedSize) }
            soundSinks.removeAll { !$0.give(.picture(presentAt: presentAt)) }
            takeSnapshots(of: picture)
        }
    }

    private func takeSnapshots(of picture: VideoPicture) {
        guard !wishes.isEmpty else { return }
        let worker = snapshots ?? parts.jobQueue("snapshots", Self.queueLimit)
        snapshots = worker
        // Each is a request that waits, and those are counted.
        worker.submit(patience: 0, beyondLimit: true) { [wishes] in wishes.forEach { $0.take(picture) } }
        wishes = []
    }

    private func decodeAudio(_ frame: MediaFrame, presentAt: NIODeadline, isLate: Bool) {
        do throws(IoTError) {
            if audioDecoder == nil, let audioParameters { audioDecoder = try parts.makeSoundDecoder(audioParameters) }
            guard let audioDecoder else { return }
            for sound in try audioDecoder.decode(frame) {
                guard sound.pts.magnitude < playoutTimeLimit.magnitude else {
                    tell(.corrupt(.audio))
                    continue
                }
                tell(.sound(pts: sound.pts, presentAt: presentAt, isLate: isLate))
                soundSinks.removeAll {
                    !$0.give(.sound(sound, presentAt: presentAt), at: sound.pts, bytes: sound.samples.readableBytes)
                }
            }
            failing.remove(.audio)
        } catch {
            fail(.audio, error, isGiven: parts.soundDecoder != nil)
        }
    }

    private func drainDecoders() {
        if let videoDecoder {
            deliver(videoDecoder.flush())
            videoDecoder.reset()
        }
        schedule.removeAll()
    }

    /// Until the first picture is told the channel does not play, and behind the last one it may have no more reason
    /// to look.
    private func tell(_ event: DecodeEvent, at time: NIODeadline? = nil) {
        let isUrgent: Bool
        switch event {
        case .picture(let picture):
            isUrgent = !hasTold || isEnding
            hasTold = hasTold || picture.isShown
        case .sound(_, _, let isLate):
            isUrgent = !hasTold || isEnding
            hasTold = hasTold || !hasPicture && !isLate
        case .corrupt, .decoderFailed, .slowReader:
            isUrgent = true
        }
        if events.post(event, generation: decoding, isUrgent: isUrgent, at: time ?? parts.clock()) { onEvents() }
    }
}
