import IoTCore
import MediaCodec
import NIOCore
import Synchronization

/// What the decoding thread reports to the channel.
enum DecodeEvent: Sendable {
    /// A picture came out of the decoder.
    case picture(DecodedPicture)
    /// `bytes`: the size of the samples.
    case sound(pts: Int64, presentAt: NIODeadline, isLate: Bool, decodedAt: NIODeadline, bytes: Int = 0)
    case corrupt(MediaKind)
    /// A decoder that the program supplied fails.
    case partFailed(String, IoTError)
    /// A sink's reader is too slow, and frames are dropped from now on.
    case slowReader(SinkKind, use: String?)
    /// A sink has ended with an error.
    case sinkFailed(IoTError, use: String?)
    case decodersClosed
    case sinksClosed
}

/// A decoded picture, for the statistics and the player's state.
struct DecodedPicture: Sendable {
    /// A picture that leaves the decoder later than this after its due time is not shown.
    static let lateness: TimeAmount = .milliseconds(80)

    let pts: Int64
    let isKeyFrame: Bool
    let width: Int
    let height: Int
    let isShown: Bool
    let presentedAt: NIODeadline
    let decodedAt: NIODeadline
    /// How long the decoder worked since the picture before it.
    let decodeTime: TimeAmount
}

/// Decodes a channel's frames on its own thread and puts the results into the sinks' queues. Several local users share
/// one stage.
///
/// `@unchecked Sendable`: all other mutable state is used only on `worker`.
final class DecodeStage: @unchecked Sendable {
    /// The maximum number of queued coded frames: about 12 s of video and audio.
    static let queueLimit = 1_200

    /// How many audio frames may wait for the next picture while there is no sound sink, so that one wake-up serves
    /// both.
    static let silentPatience = 4

    /// The maximum duration, in µs, of sound that a decoder returns before that of the frame.
    private static let longestLead: Int64 = 1_000_000

    private let worker: any JobQueue
    private let parts: PlayerParts
    private let events: DecodeEvents
    private let onEvents: @Sendable () -> Void
    private let hasPicture: Bool
    /// A sound sink was added. Atomic because the channel's loop reads it too.
    private let isHeard = Atomic(false)

    private var videoParameters: VideoParameters?
    private var audioParameters: AudioParameters?
    private var videoDecoder: (any PictureDecoder)?
    private var audioDecoder: (any SoundDecoder)?
    private var processor: (any PictureProcessor)?
    private var schedule: [Int64: (presentAt: NIODeadline, isLate: Bool, isKeyFrame: Bool, rotation: PictureRotation)] =
        [:]
    private var pictureSinks: [SinkQueue<VideoPicture>] = []
    private var soundSinks: [SinkQueue<HeardMedia>] = []
    private var wishes: [SnapshotWish] = []
    /// The newest picture, and how far it must be turned.
    private var newest: (picture: VideoPicture, rotation: PictureRotation)?
    /// Encodes snapshots, which takes longer than to decode a picture.
    private var snapshots: (any JobQueue)?
    /// Supplied decoders that are failing; a kind is removed when its decoder succeeds again.
    private var failing: Set<MediaKind> = []
    /// How long the video decoder has worked since its last picture.
    private var decodeTime = TimeAmount.zero
    private var isProcessorFailing = false
    /// The newest seek's generation; frames of earlier generations are not decoded.
    private let generation = Atomic(0)
    /// The generation of the frame that is being decoded.
    private var decoding = 0
    private var hasReported = false
    private var isEnding = false
    private var isEnded = false

    /// `onEvents` is called on the decoding thread when the owner should take `events` soon.
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

    /// Returns false if the queue is full: the frame is lost, and with it all pictures up to the next key frame.
    func decode(
        _ frame: MediaFrame, presentAt: NIODeadline, isLate: Bool, generation: Int = 0,
        rotation: PictureRotation = .none
    ) -> Bool {
        let isPatient = frame.kind == .audio && hasPicture && !isHeard.load(ordering: .relaxed)
        return worker.submit(patience: isPatient ? Self.silentPatience : 0, beyondLimit: false) { [self] in
            guard generation == self.generation.load(ordering: .relaxed) else { return }
            decoding = generation
            switch frame.kind {
            case .video: decodeVideo(frame, presentAt: presentAt, isLate: isLate, rotation)
            case .audio: decodeAudio(frame, presentAt: presentAt, isLate: isLate)
            }
        }
    }

    /// Frames are missing: the following ones cannot be decoded before the next key frame.
    func skipToKeyFrame() {
        worker.submit(patience: 0, beyondLimit: true) { [self] in videoDecoder?.reset() }
    }

    /// The user seeks: queued frames are no longer wanted.
    func begin(generation: Int) {
        self.generation.store(generation, ordering: .relaxed)
        events.begin(generation: generation)
        worker.submit(patience: 0, beyondLimit: true) { [self] in
            videoDecoder?.reset()
            schedule.removeAll()
            // The first picture after the seek is reported at once.
            hasReported = false
        }
    }

    /// Outputs the pictures that are still in the decoder; decoding restarts at the next frame.
    func drain() {
        worker.submit(patience: 0, beyondLimit: true) { [self] in drainDecoders() }
    }

    /// The sink gets every picture from now on.
    func addPictures(_ sink: SinkQueue<VideoPicture>) {
        add { [self] in
            if isEnded { return sink.end(nil) }
            // Remove sinks that were closed while no picture came; otherwise they would accumulate.
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

    /// Answers the request with the newest picture, or with the next one if there is none yet.
    func addSnapshot(_ wish: SnapshotWish) {
        add { [self] in
            if isEnded { return wish.end(.failure(IoTError(.channelDisconnected))) }
            // Remove requests that ended while no picture came; otherwise they would accumulate.
            wishes.removeAll { !$0.isOpen }
            wishes.append(wish)
            if let newest { takeSnapshots(of: newest.picture.turned(newest.rotation)) }
        }
    }

    /// Ignores the queue's limit: sinks are few and must not be lost because the queue is full.
    private func add(_ job: @escaping @Sendable () -> Void) {
        worker.submit(patience: 0, beyondLimit: true, job)
    }

    /// Ends every sink and then the thread.
    func end(_ reason: IoTError?) {
        worker.submit(patience: 0, beyondLimit: true) { [self] in
            isEnding = true
            drainDecoders()
            isEnded = true
            videoDecoder = nil
            audioDecoder = nil
            report(.decodersClosed)
            let count = Atomic(pictureSinks.count + soundSinks.count + 1)
            let onEnded = { @Sendable [parts, events, onEvents] in
                guard count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
                if events.post(.sinksClosed, isUrgent: true, at: parts.clock()) { onEvents() }
            }
            pictureSinks.forEach { $0.end(reason, onEnded: onEnded) }
            soundSinks.forEach { $0.end(reason, onEnded: onEnded) }
            onEnded()
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

    private func decodeVideo(
        _ frame: MediaFrame, presentAt: NIODeadline, isLate: Bool, _ rotation: PictureRotation
    ) {
        do throws(IoTError) {
            if videoDecoder == nil, let videoParameters {
                videoDecoder = try parts.makePictureDecoder(videoParameters)
            }
            guard let videoDecoder else { return }
            schedule[frame.pts] = (presentAt, isLate, frame.isKeyFrame, rotation)
            let begun = parts.clock()
            let pictures = try videoDecoder.decode(frame, isShown: true)
            decodeTime = decodeTime + (parts.clock() - begun)
            deliver(pictures)
            failing.remove(.video)
        } catch {
            fail(.video, error, isGiven: parts.pictureDecoder != nil)
        }
    }

    /// Reports the lost frame. A failing supplied decoder is reported once, until it decodes again.
    private func fail(_ kind: MediaKind, _ error: IoTError, isGiven: Bool) {
        report(.corrupt(kind))
        let track = kind == .video ? "picture" : "sound"
        if isGiven, failing.insert(kind).inserted { report(.partFailed("the \(track)'s decoder", error)) }
    }

    private func deliver(_ pictures: [VideoPicture]) {
        for picture in pictures {
            let plan = schedule.removeValue(forKey: picture.pts)
            if schedule.count > 64 { schedule = schedule.filter { $0.key > picture.pts } }
            // A supplied decoder may return any pts; the limit keeps differences of two from overflowing.
            if picture.isCorrupt || picture.pts.magnitude >= playoutTimeLimit.magnitude {
                report(.corrupt(.video))
                continue
            }
            let now = parts.clock()
            let presentAt = plan?.presentAt ?? now
            let isShown = plan?.isLate == false && now - presentAt <= DecodedPicture.lateness
            report(
                .picture(
                    DecodedPicture(
                        pts: picture.pts, isKeyFrame: plan?.isKeyFrame ?? false, width: picture.width,
                        height: picture.height, isShown: isShown, presentedAt: max(presentAt, now),
                        decodedAt: now, decodeTime: decodeTime)), at: now)
            decodeTime = .zero
            guard let picture = processed(picture) else { continue }
            let rotation = plan?.rotation ?? .none
            newest = (picture, rotation)
            soundSinks.removeAll { !$0.give(.picture(presentAt: presentAt)) }
            // Turned only if somebody wants it.
            guard !pictureSinks.isEmpty || !wishes.isEmpty else { continue }
            let upright = picture.turned(rotation)
            pictureSinks.removeAll { !$0.give(upright, at: picture.pts, bytes: upright.packedSize) }
            takeSnapshots(of: upright)
        }
    }

    /// The picture as the supplied processor makes it; `nil` if it fails.
    private func processed(_ picture: VideoPicture) -> VideoPicture? {
        guard let make = parts.pictureProcessor else { return picture }
        do throws(IoTError) {
            let processor: any PictureProcessor
            if let known = self.processor { processor = known } else { processor = try make() }
            self.processor = processor
            let made = try processor.process(picture)
            guard made.pts == picture.pts else {
                throw IoTError(.invalidParameter, "a processor must not change a picture's pts")
            }
            isProcessorFailing = false
            return made
        } catch {
            if !isProcessorFailing { report(.partFailed("the picture's processor", error)) }
            isProcessorFailing = true
            return nil
        }
    }

    private func takeSnapshots(of picture: VideoPicture) {
        guard !wishes.isEmpty else { return }
        let worker = snapshots ?? parts.jobQueue("snapshots", Self.queueLimit)
        snapshots = worker
        // Ignores the limit: each job is a waiting request, and the number of requests is limited elsewhere.
        worker.submit(patience: 0, beyondLimit: true) { [wishes] in wishes.forEach { $0.take(picture) } }
        wishes = []
    }

    private func decodeAudio(_ frame: MediaFrame, presentAt: NIODeadline, isLate: Bool) {
        do throws(IoTError) {
            if audioDecoder == nil, let audioParameters { audioDecoder = try parts.makeSoundDecoder(audioParameters) }
            guard let audioDecoder else { return }
            let sounds = try audioDecoder.decode(frame)
            let decodedAt = parts.clock()
            for sound in sounds {
                guard sound.pts.magnitude < playoutTimeLimit.magnitude else {
                    report(.corrupt(.audio))
                    continue
                }
                // The decoder may return the sound of lost frames before that of this frame. The limit keeps times of a
                // supplied decoder from overflowing.
                let lead = sounds.last.map { max(0, min($0.pts &- sound.pts, Self.longestLead)) } ?? 0
                let presentAt = presentAt - .microseconds(lead)
                report(
                    .sound(
                        pts: sound.pts, presentAt: presentAt, isLate: isLate, decodedAt: decodedAt,
                        bytes: sound.samples.readableBytes), at: decodedAt)
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

    /// Reports an event. Events are urgent until the first picture is reported, because the channel does not play
    /// before that, and while the stage ends, because afterwards the channel may have no other occasion to take events.
    private func report(_ event: DecodeEvent, at time: NIODeadline? = nil) {
        let isUrgent: Bool
        switch event {
        case .picture(let picture):
            isUrgent = !hasReported || isEnding
            hasReported = hasReported || picture.isShown
        case .sound(_, _, let isLate, _, _):
            isUrgent = !hasReported || isEnding
            hasReported = hasReported || !hasPicture && !isLate
        case .corrupt, .partFailed, .slowReader, .sinkFailed, .decodersClosed, .sinksClosed:
            isUrgent = true
        }
        if events.post(event, generation: decoding, isUrgent: isUrgent, at: time ?? parts.clock()) { onEvents() }
    }
}

extension VideoPicture {
    /// As it is, if memory runs out.
    fileprivate func turned(_ rotation: PictureRotation) -> VideoPicture {
        rotation == .none ? self : (try? rotated(rotation)) ?? self
    }
}
