package import IoTCore
import NIOCore

/// Transcodes MPEG audio, such as MP3, to AAC LC: 48 kHz, stereo, whatever the sample rate and the channels are. So the
/// parameters of the track are known before the first frame, and do not change.
///
/// Not Sendable.
package final class MPEGAudioTranscoder {
    private static let sampleRate = 48_000
    private static let channels = 2
    /// µs
    private static let unitDuration = Int64(AACEncoder.frameLength) * 1_000_000 / Int64(sampleRate)
    /// Bits per second. MP3 of cameras has at most as much.
    private static let bitRate: Int64 = 128_000

    /// The parameters of the output.
    package let parameters: AudioParameters
    private let transcoder: SoundTranscoder<AACEncoder>
    /// Where the source's clock jumped to, until an access unit after the jump.
    private var jump: Int64?
    private var last: Int64?

    /// - Throws: `mediaFailed`, `codecUnsupported`.
    package init() throws(IoTError) {
        let encoder = try AACEncoder(sampleRate: Self.sampleRate, channels: Self.channels, bitRate: Self.bitRate)
        parameters = AudioParameters(
            codec: .aac, sampleRate: Self.sampleRate, channels: Self.channels,
            audioSpecificConfig: encoder.audioSpecificConfig)
        transcoder = try SoundTranscoder(
            AudioDecoder.mpegAudio(), encoder, sampleRate: Self.sampleRate, channels: Self.channels)
    }

    /// The access units of AAC that this frame completes. A damaged frame yields none and leaves a gap.
    ///
    /// - Parameter frame: A frame of layer I, II or III, with its header.
    /// - Throws: `mediaFailed` if memory runs out or the encoder fails.
    package func transcode(_ frame: MediaFrame) throws(IoTError) -> [MediaFrame] {
        if frame.isDiscontinuity { jump = frame.pts }
        return try transcoder.transcode(frame).map { packet in
            MediaFrame(
                kind: .audio, isKeyFrame: true, pts: packet.pts, dts: packet.pts,
                isDiscontinuity: isFirstAfterJump(packet.pts), bytes: packet.bytes)
        }
    }

    /// The encoder returns the sound before a jump with the first sound after it.
    private func isFirstAfterJump(_ pts: Int64) -> Bool {
        defer { last = pts }
        guard let jump, let last else { return false }
        let isContiguous = abs(pts - last - Self.unitDuration) <= 1_000
        if !isContiguous || abs(pts - jump) < Self.unitDuration { self.jump = nil }
        return !isContiguous
    }
}
