public import IoTCore
import NIOCore

/// Transcodes AAC or G.711 to Opus for browsers: 48 kHz, stereo, a packet every 20 ms on a clock without jitter.
///
/// Not Sendable.
public final class OpusTranscoder {
    /// The parameters of the output.
    public static let parameters = AudioParameters(
        codec: .opus, sampleRate: OpusEncoder.sampleRate, channels: OpusEncoder.channels)

    /// The maximum deviation, in µs, with which audio frames are treated as contiguous.
    private static let tolerance: Int64 = 100_000

    private let decoder: AudioDecoder
    private let converter: AudioConverter
    private let encoder: OpusEncoder
    private var isStarted = false
    private var startsSpurt = true

    /// - Throws: `codecUnsupported` for audio that cannot be decoded, `mediaFailed`.
    public init(_ parameters: AudioParameters) throws(IoTError) {
        decoder = try AudioDecoder(parameters)
        converter = try AudioConverter(sampleRate: OpusEncoder.sampleRate, channels: OpusEncoder.channels)
        encoder = try OpusEncoder()
    }

    /// The Opus packets that this frame completes. A damaged frame yields none and leaves a gap.
    ///
    /// - Throws: `mediaFailed` if memory runs out or the encoder fails.
    public func transcode(_ frame: MediaFrame) throws(IoTError) -> [MediaFrame] {
        if frame.isDiscontinuity {
            decoder.reset()
            isStarted = false
        }
        var packets: [MediaFrame] = []
        for buffer in try decoder.decode(frame) {
            let sound = try converter.convert(buffer)
            guard sound.frameCount > 0 else { continue }
            let late = Self.time(encoder.nextPTS) - sound.pts
            // Drop audio whose time was already encoded. A step back of more than 1 s restarts the clock.
            if isStarted, late > Self.tolerance, late < 10 * Self.tolerance { continue }
            if !isStarted || abs(late) > Self.tolerance {
                for packet in try encoder.start(at: Self.samples(sound.pts)) { packets.append(place(packet)) }
                isStarted = true
                startsSpurt = true
            }
            for packet in try encoder.encode(sound.samples) { packets.append(place(packet)) }
        }
        return packets
    }

    private func place(_ packet: EncodedPacket) -> MediaFrame {
        let pts = Self.time(packet.pts)
        defer { startsSpurt = false }
        return MediaFrame(
            kind: .audio, isKeyFrame: true, pts: pts, dts: pts, isDiscontinuity: startsSpurt, bytes: packet.bytes)
    }

    private static func samples(_ time: Int64) -> Int64 {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000)
        return seconds &* Int64(OpusEncoder.sampleRate) &+ rest * 6 / 125
    }

    private static func time(_ samples: Int64) -> Int64 {
        let (seconds, rest) = samples.quotientAndRemainder(dividingBy: Int64(OpusEncoder.sampleRate))
        return seconds &* 1_000_000 &+ rest * 125 / 6
    }
}
