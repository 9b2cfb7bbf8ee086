import IoTCore
import Logging
import MediaChannel
import MediaCodec
import NIOCore

extension CameraFactory {
    /// Makes the loudspeaker each time that it is opened; `nil` for a camera without one.
    static func loudspeaker(
        of settings: CameraSettings, eventLoop: any EventLoop, logger: Logger
    ) -> (@Sendable () -> any Loudspeaker)? {
        switch settings.loudspeaker {
        case .none: return nil
        case .automatic:
            guard let configuration = settings.rtspConfiguration else { return nil }
            // One for all talks: it remembers that a camera has no back channel.
            let loudspeaker = BackChannelLoudspeaker(configuration, eventLoop: eventLoop, logger: logger)
            return { loudspeaker }
        case .alsa(let device): return { ThreadedLoudspeaker(alsaDevice: device) }
        case .file(let path): return { ThreadedLoudspeaker(wavFile: path) }
        }
    }
}
