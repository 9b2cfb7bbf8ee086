import IoTCore
import IoTLink
import Logging
import NIOCore
import RTP

/// What a camera gets from the caller of a live call: a picture and sound, in a rendition that the camera's owner can
/// watch as the camera's source 1. Confined to the camera's event loop.
final class LiveCall {
    /// The number of the source.
    static let source = 1

    /// The most pictures and packets of sound a second that are taken: more than a caller sends.
    static let maximumRate = [MediaKind.video: 130, .audio: 110]

    let session: String
    let caller: Principal
    let isOwner: Bool
    let rendition: Rendition
    let requestKeyFrame: () -> Void
    private var clocks: [MediaKind: CallerClock] = [:]
    private var counts: [MediaKind: (second: UInt64, count: Int)] = [:]
    /// Whether the following pictures cannot be decoded before the next key frame.
    private var isBroken = true

    /// - Parameter requestKeyFrame: Asks the caller for a key frame. A caller whose source is a camera cannot give one at
    ///   once.
    init(
        session: String, caller: Principal, isOwner: Bool, rendition: Rendition, requestKeyFrame: @escaping () -> Void
    ) {
        self.session = session
        self.caller = caller
        self.isOwner = isOwner
        self.rendition = rendition
        self.requestKeyFrame = requestKeyFrame
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
        guard isWithinRate(frame.kind, received.lastArrival) else {
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

    private func isWithinRate(_ kind: MediaKind, _ arrival: NIODeadline) -> Bool {
        let second = arrival.uptimeNanoseconds / 1_000_000_000
        let count = counts[kind].map { $0.second == second ? $0.count : 0 } ?? 0
        counts[kind] = (second, count + 1)
        return count < Self.maximumRate[kind] ?? 0
    }

    /// A picture will never be complete.
    func takeLoss() {
        isBroken = true
        requestKeyFrame()
    }
}
