public import IoTCore
import MediaCodec
package import NIOCore
import Synchronization

/// How a user sees and hears a channel: what its decoded sinks get. Recordings contain what the camera sent.
public struct PresentationSettings: Sendable, Hashable {
    public var isMuted = false
    public var volume = SoundVolume.full
    public var rotation = PictureRotation.none
    public var echo = EchoTreatment.duck

    public init() {}
}

/// How one use of a channel sees and hears it: its sinks read it before each frame.
package final class Presentation: Sendable {
    /// What an echo needs in addition to the network's round trip: both jitter buffers, and the camera.
    private static let echoDelay = TimeAmount.milliseconds(300)

    private let state = Mutex((settings: PresentationSettings(), ducker: Ducker()))

    package init() {}

    package var settings: PresentationSettings {
        get { state.withLock { $0.settings } }
        set { state.withLock { $0.settings = newValue } }
    }

    /// Takes what the user says, as it is sent: 48 kHz, mono.
    package func speak(_ samples: [Int16], roundTrip: TimeAmount?, at now: NIODeadline) {
        state.withLock { state in
            state.ducker.roundTrip = Self.echoDelay + (roundTrip ?? .zero)
            state.ducker.speak(samples, at: now)
        }
    }

    /// - Parameter fader: of the sink.
    func present(_ sound: AudioBuffer, fader: inout SoundFader, at now: NIODeadline) -> AudioBuffer {
        let (settings, isDucking) = state.withLock { ($0.settings, $0.ducker.isDucking(at: now)) }
        let scaled = sound.scaled(settings.isMuted ? SoundVolume(left: 0, right: 0) : settings.volume)
        return fader.fade(scaled, isQuiet: isDucking && settings.echo == .duck)
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
