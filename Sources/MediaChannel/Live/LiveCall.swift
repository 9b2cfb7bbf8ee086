import IoTCore
import IoTLink
import Logging
import MediaCodec
import NIOCore
import RTP

/// What a camera gets from the caller of a live call: a picture and sound, in a rendition that the camera's owner can
/// watch as the camera's source 1. Confined to the camera's event loop.
final class LiveCall {
    /// The number of the source.
    static let source = 1

    let session: String
    let caller: Principal
    let rendition: Rendition
    let requestKeyFrame: () -> Void
    private var clocks: [MediaKind: CallerClock] = [:]
    private var codec: VideoCodec?
    private var isOpen = false
    /// Whether the following pictures cannot be decoded before the next key frame.
    private var isBroken = false

    /// - Parameter requestKeyFrame: Asks the caller for a key frame. A caller whose source is a camera cannot give one at
    ///   once.
    init(session: String, caller: Principal, rendition: Rendition, requestKeyFrame: @escaping () -> Void) {
        self.session = session
        self.caller = caller
        self.rendition = rendition
        self.requestKeyFrame = requestKeyFrame
    }

    /// The connection is established.
    ///
    /// - Parameter video: The codec of the caller's picture; `nil` if it shows none.
    func connected(video: VideoCodec?) {
        codec = video
        if video == nil { open(nil) }
    }

    private func open(_ video: VideoParameters?) {
        isOpen = true
        rendition.handle(.opened(video: video, audio: TalkSection.parameters))
    }

    func take(_ received: ReceivedFrame) {
        var frame = received.frame
        if frame.kind == .video {
            guard isDecodable(frame) else { return }
        }
        guard isOpen else { return }
        let arrival = Int64(received.lastArrival.uptimeNanoseconds / 1_000)
        let (pts, hasJumped) = clocks[frame.kind, default: CallerClock()].place(frame.pts, arrival: arrival)
        (frame.pts, frame.dts) = (pts, pts)
        frame.isDiscontinuity = hasJumped
        rendition.handle(.frame(frame))
    }

    /// Whether the picture follows those before it. Opens the rendition with the first key frame.
    private func isDecodable(_ frame: MediaFrame) -> Bool {
        guard let codec else { return false }
        if !isOpen {
            guard frame.isKeyFrame, let parameters = VideoParameters(codec: codec, keyFrame: frame) else {
                requestKeyFrame()
                return false
            }
            open(parameters)
        }
        if frame.isKeyFrame { isBroken = false }
        return !isBroken
    }

    /// A picture will never be complete.
    func takeLoss() {
        isBroken = true
        requestKeyFrame()
    }
}
