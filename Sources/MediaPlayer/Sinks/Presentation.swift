public import IoTCore
import MediaCodec
import Synchronization

/// How a user sees and hears a channel: what its decoded sinks get. Recordings contain what the camera sent.
public struct PresentationSettings: Sendable, Hashable {
    public var isMuted = false
    public var volume = SoundVolume.full
    public var rotation = PictureRotation.none

    public init() {}
}

/// The settings of one use of a channel, which its sinks read before each frame.
package final class Presentation: Sendable {
    private let state = Mutex(PresentationSettings())

    package init() {}

    package var settings: PresentationSettings {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func present(_ sound: AudioBuffer) -> AudioBuffer {
        let settings = settings
        return sound.scaled(settings.isMuted ? SoundVolume(left: 0, right: 0) : settings.volume)
    }
}

/// The form in which a sink gets decoded pictures.
package struct PictureView: Sendable {
    var presentation: Presentation?
    /// `nil`: the size that they have.
    var fit: PictureFit?

    package init(_ presentation: Presentation? = nil, fit: PictureFit? = nil) {
        self.presentation = presentation
        self.fit = fit
    }

    /// The room that a picture takes at least, in bytes: an enlarged one takes more than the camera's.
    var leastBytes: Int { fit?.pictureSize ?? 0 }

    func show(_ picture: VideoPicture) throws(IoTError) -> VideoPicture {
        let turned = try picture.rotated(presentation?.settings.rotation ?? .none)
        guard let fit else { return turned }
        return try turned.fitted(fit)
    }
}
