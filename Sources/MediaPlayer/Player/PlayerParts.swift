public import IoTCore
public import MediaCodec
package import NIOCore

/// Parts of the players of a program's channels that it may replace or add, before the channels are opened.
///
/// A part that fails is reported as 21030 to the users of its channel, with the part's own error as the reason; so a part
/// that lacks a function throws, and the channel continues without what the part would have made. Recorders are added
/// to a channel while it plays (`MonitorChannel.addRecorder`).
public struct PlayerParts: Sendable {
    /// Makes the video decoder, on the decoding thread. `nil`: libavcodec's decoder.
    ///
    /// If making or decoding throws, the frames are lost and error 21030 is reported; the channel continues.
    public var pictureDecoder: (@Sendable (VideoParameters) throws(IoTError) -> any PictureDecoder)?

    /// Makes the audio decoder, like `pictureDecoder` makes the video decoder. `nil`: libavcodec's, but libopus's for
    /// Opus, as mono.
    public var soundDecoder: (@Sendable (AudioParameters) throws(IoTError) -> any SoundDecoder)?

    /// Makes the processor of a channel's pictures, on the decoding thread. `nil`: they stay as decoded.
    public var pictureProcessor: (@Sendable () throws(IoTError) -> any PictureProcessor)?

    /// Makes the renderer of a channel's pictures, on a thread of its own; it gets every picture from the first on.
    /// `nil`: none, pictures go only to those who ask for them.
    public var pictureRenderer: (@Sendable () -> any PictureSink)?

    /// Makes the renderer of a channel's sound, like `pictureRenderer`.
    public var soundRenderer: (@Sendable () -> any SoundSink)?

    /// Makes the encoder of what is said to a device, for each talk. `nil`: libopus with error correction. A talk whose
    /// encoder fails ends with 21030.
    public var speechEncoder: (@Sendable () throws(IoTError) -> any SpokenSoundEncoder)?

    /// Makes the encoder of the pictures that a program shows in a live call (`PictureSource`), on a thread of its own.
    /// `nil`: libx264. If it fails, nothing is shown any more, and 21030 is reported.
    public var pictureEncoder: (@Sendable () throws(IoTError) -> any ShownPictureEncoder)?

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
