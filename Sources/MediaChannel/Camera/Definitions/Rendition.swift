import IoTCore
import IoTLink
import Logging
import MediaCodec
import MediaPlayer
import NIOCore
import PeerTransport
import RTP

/// One picture of a camera, with its sound: the tracks of one source. Confined to the camera's event loop.
final class Rendition {
    /// What the viewers of a rendition are told.
    enum Event {
        /// A value that describes the rendition may have changed.
        case changed
        /// The source has other tracks now: viewers cannot continue.
        case tracksReplaced(IoTError)
        /// A new key frame is in the video track.
        case keyFrame
        /// The tracks have new packets; with `opusOnly`, only the Opus track has.
        case packets(opusOnly: Bool)
        /// The mapping of the source's clock to the wall clock changed.
        case clockChanged
        /// The source's clock jumped: `pts` came where a continuous clock would have given `expected`.
        case clockJumped(pts: Int64, expected: Int64)
        /// The pictures turned out not to come in presentation order.
        case reordered
    }

    let definition: Definition
    let eventLoop: any EventLoop
    private let logger: Logger
    /// Whether a viewer uses it.
    private let isWatched: () -> Bool
    private let onEvent: (Event) -> Void
    /// µs since 1970.
    private let wallClock: () -> Int64
    /// Callbacks that observe each frame of the source.
    var taps = FrameTaps<MediaFrame>()

    private var tracks = RenditionTracks()
    private var readerRuns = ReaderRuns()
    private(set) var videoParameters: VideoParameters?
    private var keyFrameParameters = KeyFrameParameters()
    /// The sound as Opus, while there are browsers that need it.
    private(set) var opus: CameraTrack?
    private var browserSound: BrowserSound?
    private var opusListeners = 0
    /// The time of the newest picture, and when it came. Of the newest sound if the source has no video.
    private(set) var newest: (pts: Int64, time: NIODeadline)?
    private var order = PictureOrder()
    private(set) var group = GroupOfPictures()
    private(set) var source: CameraSnapshot.SourceState = .connecting {
        didSet { if source.name != oldValue.name { since = wallClock() / 1_000 } }
    }
    /// When the source's state last changed: ms since 1970.
    private(set) var since: Int64
    private var failures = FailureLog()
    /// Maps the source's clock to the wall clock, the same for both tracks: (pts µs, µs since 1970).
    private(set) var clock: (pts: Int64, wall: Int64)?
    private var drift = ClockDrift()
    /// What somebody waits for.
    private enum Need { case tracks, picture, order }
    private var waiting: [(promise: EventLoopPromise<Void>, need: Need, until: NIODeadline)] = []
    /// After `close()`, nothing would complete a new wait.
    private var isClosed = false
    private var lastMeasured = NIODeadline.distantPast

    init(
        _ definition: Definition, eventLoop: any EventLoop, logger: Logger,
        wallClock: @escaping () -> Int64, isWatched: @escaping () -> Bool, onEvent: @escaping (Event) -> Void
    ) {
        self.definition = definition
        self.eventLoop = eventLoop
        self.logger = logger
        self.wallClock = wallClock
        self.isWatched = isWatched
        self.onEvent = onEvent
        since = wallClock() / 1_000
    }

    // MARK: Source

    func handle(_ event: CameraSourceEvent) {
        eventLoop.assertInEventLoop()
        guard !isClosed else { return }
        switch event {
        case .connecting:
            if case .ready = source { source = .connecting }
        case .opened(let video, let audio):
            open(video: video, audio: audio)
        case .frame(let frame):
            receive(frame)
            return
        case .failed(let error, let pause):
            fail(error, retryAfter: pause)
        }
        onEvent(.changed)
    }

    /// Completes when the source's tracks are known; fails at once if the source cannot be reached now, and otherwise
    /// after 10 s.
    func untilReady() -> EventLoopFuture<Void> {
        switch source {
        case .ready: return eventLoop.makeSucceededVoidFuture()
        case .failed(let error): return eventLoop.makeFailedFuture(Self.forCallers(error))
        case .connecting: break
        }
        return wait(.tracks, atMost: .seconds(10))
    }

    /// Completes when there is a picture; fails at once if none can come now, and otherwise after `patience`.
    func untilPicture(within patience: TimeAmount) -> EventLoopFuture<Void> {
        switch source {
        case .failed(let error): return eventLoop.makeFailedFuture(Self.forCallers(error))
        case .ready where videoParameters == nil: return eventLoop.makeFailedFuture(Self.noPictures)
        case .ready where !group.entries.isEmpty: return eventLoop.makeSucceededVoidFuture()
        case .ready, .connecting: return wait(.picture, atMost: patience)
        }
    }

    /// Completes when it is known whether the pictures are reordered, at the latest after 3 s: many cameras announce
    /// more reordering than they use. Fails if the source fails.
    func untilOrderIsKnown() -> EventLoopFuture<Void> {
        guard case .ready = source, !isOrderKnown else { return eventLoop.makeSucceededVoidFuture() }
        return wait(.order, atMost: .seconds(3)).flatMapErrorThrowing { error in
            guard let error = error as? IoTError, [.messageTimeout, .tooManyRequests].contains(error.code) else {
                throw error
            }
        }
    }

    private static let noPictures = IoTError(
        .operationNotAllowed, "the camera sends no picture", remedy: "request the sound only")

    private func wait(_ need: Need, atMost patience: TimeAmount) -> EventLoopFuture<Void> {
        guard !isClosed else { return eventLoop.makeFailedFuture(IoTError(.stopping)) }
        let now = eventLoop.now
        waiting.removeAll { $0.until <= now }
        guard waiting.count < 64 else { return eventLoop.makeFailedFuture(IoTError(.tooManyRequests)) }
        let promise = eventLoop.makePromise(of: Void.self)
        waiting.append((promise, need, now + patience))
        let timeout = eventLoop.scheduleTask(in: patience) {
            let reason =
                need != .tracks
                ? "no picture came from the camera in time" : "the camera's source did not answer in time"
            promise.fail(IoTError(.messageTimeout, reason))
        }
        promise.futureResult.whenComplete { _ in timeout.cancel() }
        return promise.futureResult
    }

    private func settleWaiting(_ isSettled: (Need) -> Bool, _ result: Result<Void, any Error>) {
        let settled = waiting.filter { isSettled($0.need) }
        guard !settled.isEmpty else { return }
        waiting.removeAll { isSettled($0.need) }
        settled.forEach { $0.promise.completeWith(result) }
    }

    /// The error without its own message, which contains the source's address or path. Not every viewer may see these.
    private static func forCallers(_ error: IoTError) -> IoTError {
        IoTError(error.code, remedy: "ask the camera's owner: `iotctl camera list` shows the reason")
    }

    private func fail(_ error: IoTError, retryAfter pause: Duration) {
        // Viewers stay: their tracks continue when the source is back.
        let reason = error.reasonForLog
        if let line = failures.note("\(error.code.rawValue) \(reason)", at: eventLoop.now) {
            logger.warning(
                "camera source failed",
                metadata: [
                    "camera.definition": "\(definition.rawValue)", "error.code": "\(error.code.rawValue)",
                    "error.name": "\(error.code.name)",
                    "error.reason": "\(reason)", "error.remedy": "\(error.remedy)", "retry.pause": "\(pause)",
                    "retry.attempts": "\(line.attempts)",
                ])
        }
        // Debug level only: the message contains the source's address.
        logger.debug("why the camera source failed", metadata: ["error.message": "\(error.message)"])
        source = .failed(error)
        settleWaiting({ _ in true }, .failure(Self.forCallers(error)))
    }

    private func open(video: VideoParameters?, audio: AudioParameters?) {
        if failures.recovered() { logger.notice("camera source is back") }
        if !tracks.canContinue(video: video, audio: audio) {
            onEvent(
                .tracksReplaced(
                    IoTError(.mediaHeaderInvalid, "the camera's tracks changed", remedy: "open the channel again")))
            tracks = RenditionTracks(video: video, audio: audio)
            readerRuns = ReaderRuns()
            newest = nil
            order = PictureOrder()
        }
        // Pictures from before an outage are not current.
        group.removeAll()
        videoParameters = video
        keyFrameParameters = KeyFrameParameters()
        clock = nil
        source = .ready
        settleWaiting({ $0 == .tracks }, .success(()))
        if video == nil { settleWaiting({ $0 != .tracks }, .failure(Self.noPictures)) }
    }

    private func receive(_ frame: MediaFrame) {
        let now = eventLoop.now
        taps(frame)
        if frame.kind == .video, frame.isKeyFrame { videoMayHaveChanged(frame) }
        if frame.isDiscontinuity, let newest {
            let expected = newest.pts &+ (now - newest.time).nanoseconds / 1_000
            onEvent(.clockJumped(pts: frame.pts, expected: expected))
            self.newest = nil
        }
        if clock == nil || frame.isDiscontinuity {
            anchorClock(at: (frame.pts, wallClock()), now)
        } else if frame.isKeyFrame, frame.kind == .video || tracks.video == nil,
            let anchor = drift.anchor((frame.pts, wallClock()), now)
        {
            anchorClock(at: anchor, now)
        }
        if frame.kind == .video || tracks.video == nil { note(frame, at: now) }
        noteFailure(tracks.append(frame, at: now, isWatched: isWatched()))
        switch frame.kind {
        case .video:
            group.append(frame, at: now)
            if frame.isKeyFrame {
                settleWaiting({ $0 == .picture }, .success(()))
                onEvent(.keyFrame)
            }
        case .audio: browserSound?.take(frame)
        }
        if now - lastMeasured >= .seconds(1) {
            lastMeasured = now
            onEvent(.changed)
        }
        onEvent(.packets(opusOnly: false))
    }

    // MARK: Packets

    /// The track, with the packets of all frames that have come. It is not copied (`_read`).
    var video: CameraTrack? {
        _read {
            noteFailure(tracks.packetize())
            yield tracks.video
        }
    }

    var audio: CameraTrack? {
        _read {
            noteFailure(tracks.packetize())
            yield tracks.audio
        }
    }

    var hasSound: Bool { tracks.audio != nil }

    private func noteFailure(_ error: IoTError?) {
        guard let error else { return }
        logger.debug("frame not packetized", metadata: ["error.code": "\(error.code.rawValue)"])
    }

    private func anchorClock(at anchor: (pts: Int64, wall: Int64), _ now: NIODeadline) {
        clock = anchor
        drift.begin(anchor, now)
        onEvent(.clockChanged)
    }

    private func note(_ frame: MediaFrame, at now: NIODeadline) {
        let isLate = newest.map { frame.pts < $0.pts } ?? false
        if !isLate { newest = (frame.pts, now) }
        if order.note(isLate: isLate) { onEvent(.reordered) }
        if isOrderKnown { settleWaiting({ $0 == .order }, .success(())) }
    }

    private var depth: Int { videoParameters?.reorderDepth ?? 0 }
    private var isOrderKnown: Bool { order.isKnown(depth: depth) }
    var isReordered: Bool { order.isReordered(depth: depth) }

    // MARK: Sound for browsers

    /// Adds a browser that needs the sound as Opus; the first one starts the transcoder.
    ///
    /// - Throws: `codecUnsupported` if the sound cannot be decoded here.
    func addOpusListener() throws(IoTError) {
        if browserSound == nil, let parameters = tracks.audioParameters {
            browserSound = try BrowserSound(parameters, eventLoop: eventLoop) { [weak self] in self?.receiveOpus($0) }
            opus = CameraTrack(
                parameters: .audio(OpusTranscoder.parameters), payloadType: CameraStream.Section.opusPayloadType)
        }
        opusListeners += 1
    }

    func removeOpusListener() {
        opusListeners -= 1
        guard opusListeners == 0 else { return }
        browserSound?.stop()
        browserSound = nil
        opus = nil
    }

    private func receiveOpus(_ packet: MediaFrame) {
        let now = eventLoop.now
        guard (try? opus?.append(packet, at: now)) != nil else { return }
        onEvent(.packets(opusOnly: true))
    }

    // MARK: Readers

    /// The track of which alone a reader at the live edge gets new packets, and these packets; `nil` if it must choose
    /// them one by one.
    ///
    /// - Parameter isInterleaved: By track, whether its packets have a prefix.
    func readerRun(
        _ feed: borrowing ViewerFeed, isInterleaved: (MediaKind) -> Bool
    ) -> (kind: MediaKind, run: PacketRun)? {
        let (videoEnd, audioEnd) = (video?.endSequence, audio?.endSequence)
        guard let (kind, first) = feed.fresh(videoEnd: videoEnd, audioEnd: audioEnd),
            let end = kind == .video ? videoEnd : audioEnd
        else { return nil }
        let run = readerRuns.run(kind, isInterleaved: isInterleaved(kind))
        // Usually another reader has got the same packets before.
        guard run.sequences != first..<end else { return (kind, run) }
        let track = kind == .video ? video : audio
        guard let track, run.take(track.ring, from: first, payloadType: track.codec.payloadType) else { return nil }
        return (kind, run)
    }

    // MARK: Parameters

    /// A camera may change the picture's size in band, at a key frame.
    private func videoMayHaveChanged(_ keyFrame: MediaFrame) {
        guard let known = videoParameters, let found = keyFrameParameters.changed(known.codec, in: keyFrame),
            (found.width, found.height) != (known.width, known.height)
        else { return }
        videoParameters = found
        onEvent(.changed)
    }

    var measurement: CameraMeasurement {
        var measurement = CameraMeasurement()
        if let video = tracks.video, let parameters = videoParameters {
            measurement.video = .init(
                codec: parameters.codec, width: parameters.width, height: parameters.height,
                frameRate: video.meter.frameRate ?? parameters.frameRate, bitrate: video.meter.bitrate ?? 0)
        }
        if let audio = tracks.audio, let parameters = tracks.audioParameters {
            measurement.audio = .init(
                codec: parameters.codec, sampleRate: parameters.sampleRate, channels: parameters.channels,
                bitrate: audio.meter.bitrate ?? 0)
        }
        return measurement
    }

    /// Whether pictures have come in another order than that of presentation.
    var hasReordered: Bool { order.hasComeReordered }

    /// Whether somebody waits for its tracks or its picture.
    func isAwaited(at now: NIODeadline) -> Bool { waiting.contains { $0.until > now } }

    /// Ends all waits, and frees the packets: a viewer may keep the rendition for its retransmissions.
    func close() {
        isClosed = true
        browserSound?.stop()
        browserSound = nil
        (tracks, opus) = (RenditionTracks(), nil)
        group.removeAll()
        settleWaiting({ _ in true }, .failure(IoTError(.stopping)))
    }
}
