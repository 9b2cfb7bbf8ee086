public import IoTCore
public import MediaCodec

/// Shows pictures of a camera's source to somebody who looks for something in them, without a device or viewers.
///
/// Only key frames are decoded, and at most as many as are wanted, so that it costs little however the camera encodes.
public final class PictureWatch: Sendable {
    private let source: CameraSource

    /// - Parameters:
    ///   - settings: for opening the camera.
    ///   - isDue: whether a picture is wanted now. Called on the source's thread, as `onPicture` is.
    ///   - onPicture: nothing is read from the source while it runs.
    public init(
        _ settings: CameraSettings, isDue: @escaping @Sendable () -> Bool,
        onPicture: @escaping @Sendable (VideoPicture) -> Void, onFailure: @escaping @Sendable (IoTError) -> Void
    ) {
        let development = Development()
        source = CameraSource(settings) { event in
            switch event {
            case .opened(let video, _): development.begin(video)
            case .frame(let frame) where frame.isKeyFrame && isDue():
                if let picture = development.picture(of: frame) { onPicture(picture) }
            case .failed(let error, _): onFailure(error)
            case .connecting, .frame: break
            }
        }
    }

    /// Begins to read the source on a thread of its own.
    public func start() { source.start() }

    /// Ends the thread soon.
    public func stop() { source.stop() }
}

/// `@unchecked Sendable` because only the source's thread uses it.
private final class Development: @unchecked Sendable {
    private var decoder: VideoDecoder?

    func begin(_ video: VideoParameters?) {
        decoder = video.flatMap { try? VideoDecoder($0) }
    }

    /// `nil` for a frame that is damaged or no picture.
    func picture(of frame: MediaFrame) -> VideoPicture? {
        guard frame.kind == .video, let decoder, let first = try? decoder.decode(frame) else { return nil }
        return (first + decoder.flush()).last { !$0.isCorrupt }
    }
}
