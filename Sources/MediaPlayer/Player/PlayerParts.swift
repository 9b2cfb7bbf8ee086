public import IoTCore
import MediaCodec
package import NIOCore

/// Parts of a player that a program may replace. Each has a built-in default.
public struct PlayerParts: Sendable {
    /// Makes the video decoder, on the decoding thread. `nil`: libavcodec's decoder.
    ///
    /// If making or decoding throws, the frames are lost and error 21030 is reported; the channel continues.
    public var pictureDecoder: (@Sendable (VideoParameters) throws(IoTError) -> any PictureDecoder)?

    /// Makes the audio decoder, like `pictureDecoder` makes the video decoder. `nil`: libavcodec's, but libopus's for
    /// Opus, as mono.
    public var soundDecoder: (@Sendable (AudioParameters) throws(IoTError) -> any SoundDecoder)?

    func makePictureDecoder(_ parameters: VideoParameters) throws(IoTError) -> any PictureDecoder {
        guard let pictureDecoder else { return try VideoDecoder(parameters, threads: 1) }
        return try pictureDecoder(parameters)
    }

    func makeSoundDecoder(_ parameters: AudioParameters) throws(IoTError) -> any SoundDecoder {
        guard let soundDecoder else {
            return parameters.codec == .opus ? try SpeechTrackDecoder() : try AudioDecoder(parameters)
        }
        return try soundDecoder(parameters)
    }

    /// The decoding thread's clock.
    package var clock: @Sendable () -> NIODeadline = { .now() }

    /// Makes the decoding thread and the threads of the sinks.
    package var jobQueue: @Sendable (_ name: String, _ limit: Int) -> any JobQueue = {
        SerialWorker(name: $0, limit: $1)
    }

    public init() {}
}
