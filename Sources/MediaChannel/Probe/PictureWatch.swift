public import IoTCore
public import MediaCodec

/// Decodes pictures of a camera's source for a caller that examines them, without a device or viewers.
///
/// It decodes only key frames, and only when `isDue` returns true, so the cost is small with every encoding.
public final class PictureWatch: Sendable {
    private let source: CameraSource

    /// - Parameters:
    ///   - settings: for opening the camera.
    ///   - isDue: whether a picture is needed now. Called on the source's thread, like `onPicture`.
    ///   - onPicture: called with each picture. The source is not read until it returns.
    public init(
        _ settings: CameraSettings, isDue: @escaping @Sendable () -> Bool,
        onPicture: @escaping @Sendable (VideoPicture) -> Void, onFailure: @escaping @Sendable (IoTError) -> Void
    ) {
        let development = Development()
        source = CameraSource(settings, eventLoop: nil) { event in
            switch event {
            case .opened(let video, _): development.begin(video)
            case .frame(let frame) where frame.isKeyFrame && isDue():
                if let picture = development.picture(of: frame) { onPicture(picture) }
            case .failed(let error, _): onFailure(error)
            case .connecting, .frame: break
            }
        }
    }

    /// Starts a thread that reads the source.
    public func start() { source.start() }

    /// Asks the thread to end, and does not wait for it.
    public func stop() { source.stop() }
}

/// `@unchecked Sendable` because only the source's thread uses it.
private final class Development: @unchecked Sendable {
    private var decoder: VideoDecoder?

    func begin(_ video: VideoParameters?) {
        decoder = video.flatMap { try? VideoDecoder($0) }
    }

    /// `nil` for a damaged frame, or for one that contains no picture.
    func picture(of frame: MediaFrame) -> VideoPicture? {
        guard frame.kind == .video, let decoder, let first = try? decoder.decode(frame) else { return nil }
        return (first + decoder.flush()).last { !$0.isCorrupt }
    }
}
