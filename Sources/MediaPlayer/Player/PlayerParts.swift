public import IoTCore
import MediaCodec
package import NIOCore

/// The parts of a player that a program may replace; each has a built-in one.
public struct PlayerParts: Sendable {
    /// Makes the picture's decoder, on the decoding thread. Default: libavcodec's.
    public var pictureDecoder: @Sendable (VideoParameters) throws(IoTError) -> any PictureDecoder = {
        parameters throws(IoTError) in try VideoDecoder(parameters, threads: 1)
    }

    /// Makes the sound's decoder, on the decoding thread. Default: libavcodec's.
    public var soundDecoder: @Sendable (AudioParameters) throws(IoTError) -> any SoundDecoder = {
        parameters throws(IoTError) in try AudioDecoder(parameters)
    }

    /// The decoding thread's clock.
    package var clock: @Sendable () -> NIODeadline = { .now() }

    /// Makes the decoding thread.
    package var jobQueue: @Sendable (_ name: String, _ limit: Int) -> any JobQueue = {
        SerialWorker(name: $0, limit: $1)
    }

    public init() {}
}
