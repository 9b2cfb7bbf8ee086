import IoTCore
import IoTLink
import Logging
import NIOCore
import RTP

/// What a camera gets from the caller of a live call: a picture and sound, in a rendition that the camera's owner can
/// watch. Confined to the camera's event loop.
final class LiveCall {
    /// The pictures and packets of sound that are taken: more than a caller sends. A caller's camera begins with all
    /// pictures since its newest key frame, which can be ten seconds old.
    static let rates: [MediaKind: RateLimit.Bound] = [
        .video: RateLimit.Bound(burst: 1_200, each: 120), .audio: RateLimit.Bound(burst: 200, each: 110),
    ]

    /// How long a call rings.
    static let ringingTime = TimeAmount.seconds(30)

    let session: String
    let caller: Principal
    let isOwner: Bool
    let rendition: Rendition
    let requestKeyFrame: () -> Void
    private var clocks: [MediaKind: CallerClock] = [:]
    private var limits = LiveCall.rates.mapValues(RateLimit.init)
    /// Whether the following pictures cannot be decoded before the next key frame.
    private var isBroken = true
    /// Whether it waits until somebody at the camera accepts it. Until then, the caller gets no media and the
    /// loudspeaker plays nothing of it; the camera's owner can watch it.
    private(set) var isRinging: Bool
    /// Whether somebody had to accept it.
    let rings: Bool
    /// Ends the ringing.
    private var missed: Scheduled<Void>?

    /// - Parameters:
    ///   - isRinging: Whether somebody must accept it.
    ///   - requestKeyFrame: Asks the caller for a key frame. A caller whose source is a camera cannot give one at once.
    init(
        session: String, caller: Principal, isOwner: Bool, isRinging: Bool, rendition: Rendition,
        requestKeyFrame: @escaping () -> Void
    ) {
        self.session = session
        self.caller = caller
        self.isOwner = isOwner
        self.isRinging = isRinging
        rings = isRinging
        self.rendition = rendition
        self.requestKeyFrame = requestKeyFrame
    }

    /// The call has the camera. If it rings, `onMissed` is called unless somebody answers in time.
    func begin(on eventLoop: any EventLoop, onMissed: @escaping () -> Void) {
        guard isRinging else { return }
        missed = eventLoop.assumeIsolated().scheduleTask(in: Self.ringingTime) { onMissed() }
    }

    /// Somebody has accepted it.
    func accept() {
        isRinging = false
        end()
    }

    func end() {
        missed?.cancel()
        missed = nil
    }

    /// The connection is established.
    ///
    /// - Parameter video: The codec of the caller's picture; `nil` if it shows none. The first key frame brings the
    ///   parameters.
    func connected(video: VideoCodec?) {
        rendition.handle(
            .opened(
                video: video.map { VideoParameters(codec: $0, parameterSets: []) }, audio: TalkSection.parameters))
    }

    func take(_ received: ReceivedFrame) {
        var frame = received.frame
        guard limits[frame.kind]?.take(at: received.lastArrival) ?? false else {
            if frame.kind == .video { isBroken = true }
            return
        }
        if frame.kind == .video {
            if frame.isKeyFrame { isBroken = false }
            guard !isBroken else { return requestKeyFrame() }
        }
        let arrival = Int64(received.lastArrival.uptimeNanoseconds / 1_000)
        let (pts, hasJumped) = clocks[frame.kind, default: CallerClock()].place(frame.pts, arrival: arrival)
        (frame.pts, frame.dts) = (pts, pts)
        frame.isDiscontinuity = hasJumped
        rendition.handle(.frame(frame))
    }

    /// A picture will never be complete. The receiver asks for a key frame, unless one has begun.
    func takeLoss() { isBroken = true }
}
