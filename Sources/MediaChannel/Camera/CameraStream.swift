import IoTCore
import IoTLink
import Logging
import MediaCodec
import MediaPlayer
import NIOCore
import PeerTransport

/// A camera's tracks and viewers. Confined to one event loop.
final class CameraStream {
    /// Media section names and payload types in every offer.
    enum Section {
        static let video = "video"
        static let audio = "audio"
        static let videoPayloadType: UInt8 = 96
        static let audioPayloadType: UInt8 = 97
        static let opusPayloadType: UInt8 = 98
    }

    let eventLoop: any EventLoop
    let logger: Logger
    private let onChange: () -> Void
    /// µs since 1970.
    private let wallClock: () -> Int64
    /// Callbacks that observe each frame of the source.
    var taps = FrameTaps<MediaFrame>()

    private(set) var video: CameraTrack?
    private(set) var audio: CameraTrack?
    private(set) var videoParameters: VideoParameters?
    /// The sound as Opus, while there are browsers that need it.
    private(set) var opus: CameraTrack?
    private var browserSound: BrowserSound?
    private var opusListeners = 0
    /// The newest picture (or sound, if there is no video), and when it came.
    private(set) var newest: (pts: Int64, time: NIODeadline)?
    private var order = PictureOrder()
    private(set) var group = GroupOfPictures()
    private(set) var source: CameraSnapshot.SourceState = .connecting {
        didSet { if source.name != oldValue.name { sourceSince = wallClock() / 1_000 } }
    }
    /// When the source's state last changed, and when the camera was last switched on or off: ms since 1970.
    private var sourceSince: Int64
    private var switched: Int64 = 0
    private var failures = FailureLog()
    private(set) var viewers: [String: any CameraViewer] = [:]
    private(set) var isOn = true
    /// Maps the source's clock to the wall clock, the same for both tracks: (pts µs, µs since 1970).
    private(set) var clock: (pts: Int64, wall: Int64)?
    private var drift = ClockDrift()
    private var waiting: [(promise: EventLoopPromise<Void>, needsPicture: Bool, until: NIODeadline)] = []
    /// After `close()`, nothing would complete a new wait.
    private var isClosed = false
    private var lastMeasured = NIODeadline.distantPast
    private var places: ViewerPlaces

    /// What people say to the camera.
    private(set) lazy var talk = CameraTalk(
        eventLoop: eventLoop, logger: logger,
        makeLoudspeaker: makeLoudspeaker.map { make in
            { [eventLoop] in LoudspeakerHandle(make(), on: eventLoop) }
        }, onChange: onChange)
    private let makeLoudspeaker: (@Sendable () -> any Loudspeaker)?

    /// URLs of ICE servers that recently did not answer in time.
    var silentServers: Set<String> = []

    var maximumViewers: Int {
        get { places.maximum }
        set { places.maximum = newValue }
    }

    /// `onChange` is called whenever a value in the camera's model may have changed. `loudspeaker` makes a loudspeaker
    /// each time one is opened; `nil` for a camera without one.
    init(
        eventLoop: any EventLoop, maximumViewers: Int, logger: Logger,
        loudspeaker: (@Sendable () -> any Loudspeaker)? = nil,
        wallClock: @escaping () -> Int64 = { WallClock.microseconds() }, onChange: @escaping () -> Void
    ) {
        self.eventLoop = eventLoop
        self.wallClock = wallClock
        sourceSince = wallClock() / 1_000
        places = ViewerPlaces(maximum: maximumViewers)
        self.logger = logger
        makeLoudspeaker = loudspeaker
        self.onChange = onChange
    }

    // MARK: Source

    func handle(_ event: CameraSourceEvent) {
        eventLoop.assertInEventLoop()
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
        onChange()
    }

    /// Completes when the source's tracks are known; fails at once if the source cannot be reached now, and otherwise
    /// after 10 s.
    func untilReady() -> EventLoopFuture<Void> {
        switch source {
        case .ready: return eventLoop.makeSucceededVoidFuture()
        case .failed(let error): return eventLoop.makeFailedFuture(Self.forCallers(error))
        case .connecting: break
        }
        return wait(needsPicture: false, atMost: .seconds(10))
    }

    /// Completes when there is a picture; fails at once if none can come now, and otherwise after `patience`.
    func untilPicture(within patience: TimeAmount) -> EventLoopFuture<Void> {
        guard isOn else { return eventLoop.makeFailedFuture(IoTError(.cameraOff)) }
        switch source {
        case .failed(let error): return eventLoop.makeFailedFuture(Self.forCallers(error))
        case .ready where videoParameters == nil: return eventLoop.makeFailedFuture(Self.noPictures)
        case .ready where !group.entries.isEmpty: return eventLoop.makeSucceededVoidFuture()
        case .ready, .connecting: return wait(needsPicture: true, atMost: patience)
        }
    }

    private static let noPictures = IoTError(
        .operationNotAllowed, "the camera sends no picture", remedy: "request the sound only")

    private func wait(needsPicture: Bool, atMost patience: TimeAmount) -> EventLoopFuture<Void> {
        guard !isClosed else { return eventLoop.makeFailedFuture(IoTError(.stopping)) }
        let now = eventLoop.now
        waiting.removeAll { $0.until <= now }
        guard waiting.count < 64 else { return eventLoop.makeFailedFuture(IoTError(.tooManyRequests)) }
        let promise = eventLoop.makePromise(of: Void.self)
        waiting.append((promise, needsPicture, now + patience))
        let timeout = eventLoop.scheduleTask(in: patience) {
            let reason =
                needsPicture
                ? "no picture came from the camera in time" : "the camera's source did not answer in time"
            promise.fail(IoTError(.messageTimeout, reason))
        }
        promise.futureResult.whenComplete { _ in timeout.cancel() }
        return promise.futureResult
    }

    private func settleWaiting(_ isSettled: (_ needsPicture: Bool) -> Bool, _ result: Result<Void, any Error>) {
        let settled = waiting.filter { isSettled($0.needsPicture) }
        guard !settled.isEmpty else { return }
        waiting.removeAll { isSettled($0.needsPicture) }
        settled.forEach { $0.promise.completeWith(result) }
    }

    /// The error without its own message, which contains the source's address or path. Not every viewer may see these.
    private static func forCallers(_ error: IoTError) -> IoTError {
        IoTError(error.code, remedy: "ask the camera's owner: `iotctl camera list` shows the reason")
    }

    private func fail(_ error: IoTError, retryAfter pause: Duration) {
        // Viewers stay: their tracks continue when the source is back.
        let reason = error.underlying.map { "\($0)" } ?? error.code.message
        if let line = failures.note("\(error.code.rawValue) \(reason)", at: eventLoop.now) {
            logger.warning(
                "camera source failed",
                metadata: [
                    "error.code": "\(error.code.rawValue)", "error.name": "\(error.code.name)",
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
        let changed = !isSameStream(video: video, audio: audio)
        if changed {
            let gone = viewers
            viewers = [:]
            gone.values.forEach {
                $0.end(IoTError(.mediaHeaderInvalid, "the camera's tracks changed", remedy: "open the channel again"))
            }
            self.video = video.map {
                CameraTrack(parameters: .video($0), payloadType: Section.videoPayloadType)
            }
            self.audio = audio.map {
                CameraTrack(parameters: .audio($0), payloadType: Section.audioPayloadType)
            }
        }
        if changed {
            newest = nil
            order = PictureOrder()
        }
        // Pictures from before an outage are not current.
        group.removeAll()
        videoParameters = video
        clock = nil
        source = .ready
        settleWaiting({ !$0 }, .success(()))
        if video == nil { settleWaiting({ $0 }, .failure(Self.noPictures)) }
    }

    /// A reconnected source with the same codecs continues in the same tracks; sizes may change in band.
    private func isSameStream(video: VideoParameters?, audio: AudioParameters?) -> Bool {
        func codec(_ track: CameraTrack?) -> VideoCodec? {
            if case .video(let parameters) = track?.parameters { parameters.codec } else { nil }
        }
        func parameters(_ track: CameraTrack?) -> AudioParameters? {
            if case .audio(let parameters) = track?.parameters { parameters } else { nil }
        }
        guard self.video != nil || self.audio != nil else { return false }
        return codec(self.video) == video?.codec && parameters(self.audio) == audio
    }

    private func receive(_ frame: MediaFrame) {
        let now = eventLoop.now
        taps(frame)
        if frame.kind == .video, frame.isKeyFrame { videoMayHaveChanged(frame) }
        if frame.isDiscontinuity, let newest {
            let expected = newest.pts &+ (now - newest.time).nanoseconds / 1_000
            viewers.values.forEach { $0.clockJumped(to: frame.pts, expected: expected) }
            self.newest = nil
        }
        if clock == nil || frame.isDiscontinuity {
            anchorClock(at: (frame.pts, wallClock()), now)
        } else if frame.isKeyFrame, frame.kind == .video || video == nil,
            let anchor = drift.anchor((frame.pts, wallClock()), now)
        {
            anchorClock(at: anchor, now)
        }
        if frame.kind == .video || video == nil { note(frame, at: now) }
        do throws(IoTError) {
            switch frame.kind {
            case .video:
                try video?.append(frame, at: now)
                group.append(frame, at: now)
                if frame.isKeyFrame { settleWaiting({ $0 }, .success(())) }
            case .audio:
                try audio?.append(frame, at: now)
                browserSound?.take(frame)
            }
        } catch {
            logger.debug("frame not packetized", metadata: ["error.code": "\(error.code.rawValue)"])
            return
        }
        if now - lastMeasured >= .seconds(1) {
            lastMeasured = now
            onChange()
        }
        guard isOn else { return }
        for viewer in viewers.values { viewer.pump(at: now) }
    }

    private func anchorClock(at anchor: (pts: Int64, wall: Int64), _ now: NIODeadline) {
        clock = anchor
        drift.begin(anchor, now)
        viewers.values.forEach { $0.clockChanged() }
    }

    private func note(_ frame: MediaFrame, at now: NIODeadline) {
        let isLate = newest.map { frame.pts < $0.pts } ?? false
        if !isLate { newest = (frame.pts, now) }
        if order.note(isLate: isLate) { viewers.values.forEach { $0.picturesReordered() } }
    }

    var isReordered: Bool { order.isReordered(depth: videoParameters?.reorderDepth ?? 0) }

    /// When the camera's current state began: ms since 1970.
    var since: Int64 { isOn ? max(sourceSince, switched) : switched }

    // MARK: Sound for browsers

    /// Adds a browser that needs the sound as Opus; the first one starts the transcoder.
    ///
    /// - Throws: `codecUnsupported` if the sound cannot be decoded here.
    func addOpusListener() throws(IoTError) {
        if browserSound == nil, case .audio(let parameters) = audio?.parameters {
            browserSound = try BrowserSound(parameters, eventLoop: eventLoop) { [weak self] in self?.receiveOpus($0) }
            opus = CameraTrack(
                parameters: .audio(OpusTranscoder.parameters), payloadType: Section.opusPayloadType)
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
        guard (try? opus?.append(packet, at: now)) != nil, isOn else { return }
        for viewer in viewers.values where viewer.hearsOpus { viewer.pump(at: now) }
    }

    // MARK: Parameters

    /// A camera may change the picture's size in band, at a key frame.
    private func videoMayHaveChanged(_ keyFrame: MediaFrame) {
        guard let known = videoParameters, let found = VideoParameters(codec: known.codec, keyFrame: keyFrame),
            (found.width, found.height) != (known.width, known.height)
        else { return }
        videoParameters = found
        onChange()
    }

    var measurement: CameraMeasurement {
        var measurement = CameraMeasurement()
        if let video, let parameters = videoParameters {
            measurement.video = .init(
                codec: parameters.codec, width: parameters.width, height: parameters.height,
                frameRate: video.meter.frameRate ?? parameters.frameRate, bitrate: video.meter.bitrate ?? 0)
        }
        if let audio, case .audio(let parameters) = audio.parameters {
            measurement.audio = .init(
                codec: parameters.codec, sampleRate: parameters.sampleRate, channels: parameters.channels,
                bitrate: audio.meter.bitrate ?? 0)
        }
        return measurement
    }

    // MARK: Viewers

    func add(_ viewer: any CameraViewer) throws(IoTError) {
        guard isOn else { throw IoTError(.cameraOff) }
        try places.add(session: viewer.session, user: viewer.account, isOwner: viewer.isOwner)
        viewers[viewer.session] = viewer
        onChange()
    }

    /// The viewer of a call, by the call's session.
    func called(_ session: String) -> (any CalledViewer)? { viewers[session] as? any CalledViewer }

    /// The viewer's connection is established.
    func takePlace(session: String) throws(IoTError) {
        try places.connected(session: session)
    }

    func remove(session: String) {
        places.remove(session: session)
        talk.stop(session: session)
        guard viewers.removeValue(forKey: session) != nil else { return }
        onChange()
    }

    /// Off stops the packets to every viewer; on restarts at the newest key frame.
    func turn(on: Bool) {
        guard on != isOn else { return }
        isOn = on
        switched = wallClock() / 1_000
        if !on { talk.end(IoTError(.cameraOff)) }
        let now = eventLoop.now
        for viewer in viewers.values {
            if on { viewer.restart(at: now) } else { viewer.pause() }
        }
        onChange()
    }

    /// Completes when the loudspeaker is closed.
    @discardableResult
    func close() -> EventLoopFuture<Void> {
        isClosed = true
        let silent = talk.close(IoTError(.stopping))
        let gone = viewers
        viewers = [:]
        gone.values.forEach { $0.end(IoTError(.stopping)) }
        settleWaiting({ _ in true }, .failure(IoTError(.stopping)))
        return silent
    }
}
