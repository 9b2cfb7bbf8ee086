public import IoTCore
import MediaCodec
package import NIOCore

/// The parts of a player that a program may replace; each has a built-in one.
public struct PlayerParts: Sendable {
    /// Makes the picture's decoder, on the decoding thread. `nil`: libavcodec's.
    ///
    /// One that cannot be made, or that throws, loses its frames and is told with 21030; the channel goes on.
    public var pictureDecoder: (@Sendable (VideoParameters) throws(IoTError) -> any PictureDecoder)?

    /// Makes the sound's decoder, as `pictureDecoder` does the picture's.
    public var soundDecoder: (@Sendable (AudioParameters) throws(IoTError) -> any SoundDecoder)?

    func makePictureDecoder(_ parameters: VideoParameters) throws(IoTError) -> any PictureDecoder {
        guard let pictureDecoder else { return try VideoDecoder(parameters, threads: 1) }
        return try pictureDecoder(parameters)
    }

    func makeSoundDecoder(_ parameters: AudioParameters) throws(IoTError) -> any SoundDecoder {
        guard let soundDecoder else { return try AudioDecoder(parameters) }
        return try soundDecoder(parameters)
    }

    /// The decoding thread's clock.
    package var clock: @Sendable () -> NIODeadline = { .now() }

    /// Makes the decoding thread, and those of the sinks.
    package var jobQueue: @Sendable (_ name: String, _ limit: Int) -> any JobQueue = {
        SerialWorker(name: $0, limit: $1)
    }

    public init() {}
}
