import IoTCore
import Logging
import NIOCore
import RTP

/// A viewer that passes a camera's pictures to a live call of this gateway, in which they are the caller's. Confined to
/// the camera's event loop.
///
/// Like a browser, the called device knows no instant start: the pictures since the newest key frame are placed right
/// before the live edge.
final class CallerCamera: CameraViewer {
    let session = Hex.random(byteCount: 8)
    let account: String
    let isOwner: Bool
    let hearsOpus = false
    let rendition: Rendition

    private let stream: CameraStream
    private let send: @Sendable ([MediaPacket]) -> Void
    private let onEnd: @Sendable (IoTError) -> Void
    private var feed = ViewerFeed()
    private var clock = ViewerClock()
    /// The time of the newest sent picture, in µs on the source's clock.
    private var lastSent: Int64?
    private var hasEnded = false
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - send: Gets the packets in order; called on the camera's event loop.
    ///   - onEnd: Called if the camera ends the viewer.
    init(
        _ stream: CameraStream, _ rendition: Rendition, account: String, isOwner: Bool,
        send: @escaping @Sendable ([MediaPacket]) -> Void, onEnd: @escaping @Sendable (IoTError) -> Void
    ) {
        self.stream = stream
        self.rendition = rendition
        self.account = account
        self.isOwner = isOwner
        self.send = send
        self.onEnd = onEnd
    }

    func uses(_ rendition: Rendition) -> Bool { self.rendition === rendition }

    private func note(_ message: Logger.Message, _ reason: IoTError? = nil) {
        var metadata: Logger.Metadata = ["viewer.user": "\(account)", "viewer.session": "\(session)"]
        if let reason { metadata["error.code"] = "\(reason.code.rawValue)" }
        stream.logger.info(message, metadata: metadata)
    }

    /// Begins with the newest key frame.
    func begin(at now: NIODeadline) {
        note("the camera is shown in a live call")
        restart(at: now)
    }

    func restart(at now: NIODeadline) {
        guard !hasEnded, let video = rendition.video else { return }
        feed.start(video: video, audio: nil, at: now)
        if let edge = rendition.newest?.pts {
            let start = video.ring.packet(sequence: video.startSequence)?.pts ?? edge
            clock.begin(start: start, edge: edge, after: lastSent)
        }
        pump(at: now)
    }

    func pump(at now: NIODeadline) {
        guard !hasEnded, stream.isOn, let video = rendition.video else { return }
        let rate = video.codec.clockRate
        let packets = feed.next(video: video, audio: nil, at: now).map { $0.packet }
        if let newest = packets.map(\.pts).max() { lastSent = max(lastSent ?? newest, newest) }
        if !packets.isEmpty { send(packets.map { $0.moved(to: clock.place($0.pts), clockRate: rate) }) }
        guard timer == nil, let timeout = feed.timeout else { return }
        timer = stream.eventLoop.assumeIsolated().scheduleTask(deadline: timeout) { [weak self] in
            guard let self else { return }
            timer = nil
            pump(at: stream.eventLoop.now)
        }
    }

    func pause() {
        feed.stop()
        timer?.cancel()
        timer = nil
    }

    func clockJumped(to pts: Int64, expected: Int64) { clock.jump(to: pts, expected: expected) }

    // The call has no reports of a clock, and the called device reorders pictures.
    func clockChanged() {}
    func picturesReordered() {}
    func keyFrameCame(in rendition: Rendition, at now: NIODeadline) {}

    func end(_ reason: IoTError) {
        guard !hasEnded else { return }
        finish(reason)
        onEnd(reason)
    }

    func hungUp() { finish(nil) }

    private func finish(_ reason: IoTError?) {
        guard !hasEnded else { return }
        hasEnded = true
        pause()
        stream.remove(session: session)
        note("the camera is no longer shown in a live call", reason)
    }
}
