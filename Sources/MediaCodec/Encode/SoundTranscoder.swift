import IoTCore
import NIOCore

/// An encoder with a clock of its own, in samples.
protocol SoundEncoder: AnyObject {
    /// The time of the next samples if they follow without a gap.
    var nextPTS: Int64 { get }

    /// Starts at `pts`, or restarts there after a gap. Returns the packets before the gap, padded with silence.
    func start(at pts: Int64) throws(IoTError) -> [EncodedPacket]

    /// - Parameter samples: interleaved Int16 of the encoder's channels.
    func encode(_ samples: ByteBuffer) throws(IoTError) -> [EncodedPacket]
}

/// Decodes sound and encodes it again, on a clock without jitter.
///
/// Not Sendable.
final class SoundTranscoder<Encoder: SoundEncoder> {
    /// A packet with its time in µs.
    struct Packet {
        var pts: Int64
        var bytes: ByteBuffer
        /// Whether it is the first packet, or the first after a gap.
        var startsSpurt: Bool
    }

    /// The maximum deviation, in µs, with which audio frames are treated as contiguous.
    private static var tolerance: Int64 { 100_000 }

    private let decoder: AudioDecoder
    private let converter: AudioConverter
    private let encoder: Encoder
    private let sampleRate: Int64
    private var isStarted = false
    private var startsSpurt = true

    /// - Parameters:
    ///   - sampleRate: The encoder's.
    ///   - channels: The encoder's.
    init(_ decoder: AudioDecoder, _ encoder: Encoder, sampleRate: Int, channels: Int) throws(IoTError) {
        self.decoder = decoder
        self.encoder = encoder
        self.sampleRate = Int64(sampleRate)
        converter = try AudioConverter(sampleRate: sampleRate, channels: channels)
    }

    /// The packets that this frame completes. A damaged frame yields none and leaves a gap.
    ///
    /// - Throws: `mediaFailed` if memory runs out or the encoder fails.
    func transcode(_ frame: MediaFrame) throws(IoTError) -> [Packet] {
        if frame.isDiscontinuity {
            decoder.reset()
            isStarted = false
        }
        var packets: [Packet] = []
        for buffer in try decoder.decode(frame) {
            let sound = try converter.convert(buffer)
            guard sound.frameCount > 0 else { continue }
            let late = time(encoder.nextPTS) - sound.pts
            // Drop audio whose time was already encoded. A step back of more than 1 s restarts the clock.
            if isStarted, late > Self.tolerance, late < 10 * Self.tolerance { continue }
            if !isStarted || abs(late) > Self.tolerance {
                for packet in try encoder.start(at: samples(sound.pts)) { packets.append(place(packet)) }
                isStarted = true
                startsSpurt = true
            }
            for packet in try encoder.encode(sound.samples) { packets.append(place(packet)) }
        }
        return packets
    }

    private func place(_ packet: EncodedPacket) -> Packet {
        defer { startsSpurt = false }
        return Packet(pts: time(packet.pts), bytes: packet.bytes, startsSpurt: startsSpurt)
    }

    private func samples(_ time: Int64) -> Int64 {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000)
        return seconds &* sampleRate &+ rest * sampleRate / 1_000_000
    }

    private func time(_ samples: Int64) -> Int64 {
        let (seconds, rest) = samples.quotientAndRemainder(dividingBy: sampleRate)
        return seconds &* 1_000_000 &+ rest * 1_000_000 / sampleRate
    }
}
