public import IoTCore
import NIOCore

/// Transcodes AAC or G.711 to Opus for browsers: 48 kHz, stereo, a packet every 20 ms on a clock without jitter.
///
/// Not Sendable.
public final class OpusTranscoder {
    /// The parameters of the output.
    public static let parameters = AudioParameters(
        codec: .opus, sampleRate: OpusEncoder.sampleRate, channels: OpusEncoder.channels)

    private let transcoder: SoundTranscoder<OpusEncoder>

    /// - Throws: `codecUnsupported` for audio that cannot be decoded, `mediaFailed`.
    public init(_ parameters: AudioParameters) throws(IoTError) {
        transcoder = try SoundTranscoder(
            AudioDecoder(parameters), OpusEncoder(), sampleRate: OpusEncoder.sampleRate,
            channels: OpusEncoder.channels)
    }

    /// The Opus packets that this frame completes. A damaged frame yields none and leaves a gap.
    ///
    /// - Throws: `mediaFailed` if memory runs out or the encoder fails.
    public func transcode(_ frame: MediaFrame) throws(IoTError) -> [MediaFrame] {
        try transcoder.transcode(frame).map { packet in
            MediaFrame(
                kind: .audio, isKeyFrame: true, pts: packet.pts, dts: packet.pts, isDiscontinuity: packet.startsSpurt,
                bytes: packet.bytes)
        }
    }
}
