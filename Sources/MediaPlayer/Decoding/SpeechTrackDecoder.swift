import IoTCore
import MediaCodec
import NIOCore

/// Decodes an Opus track to mono. A gap in its times is filled: from the FEC of the packet after the gap, or concealed.
final class SpeechTrackDecoder: SoundDecoder {
    /// µs. Less is a rounding error of the clock.
    private static let leastGap: Int64 = 5_000
    /// µs. A longer gap is left: the sender was silent or gone.
    private static let longestGap = Int64(SpeechDecoder.longestGap) * 1_000_000 / Int64(SpeechFormat.sampleRate)

    private let decoder: SpeechDecoder
    private var nextPTS: Int64?

    init() throws(IoTError) {
        decoder = try SpeechDecoder()
    }

    /// The sound of a gap comes before that of the frame. A damaged packet yields nothing and is treated as lost.
    func decode(_ frame: MediaFrame) -> [AudioBuffer] {
        let packet = Array(frame.bytes.readableBytesView)
        var buffers: [AudioBuffer] = []
        if frame.isDiscontinuity {
            nextPTS = nil
            decoder.reset()
        }
        if let expected = nextPTS {
            let (gap, isOverflow) = frame.pts.subtractingReportingOverflow(expected)
            if !isOverflow, gap >= Self.leastGap, gap <= Self.longestGap {
                buffers = buffer(decoder.recover(from: packet, sampleCount: Self.samples(gap)), at: expected)
            }
        }
        let sound = buffer(decoder.decode(packet), at: frame.pts)
        if let last = sound.last ?? buffers.last { nextPTS = last.pts &+ last.duration }
        return buffers + sound
    }

    private func buffer(_ samples: [Int16], at pts: Int64) -> [AudioBuffer] {
        guard !samples.isEmpty else { return [] }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(2 * samples.count)
        for sample in samples { bytes.writeInteger(sample, endianness: .little) }
        return [AudioBuffer(pts: pts, sampleRate: SpeechFormat.sampleRate, channels: 1, samples: bytes)]
    }

    private static func samples(_ time: Int64) -> Int {
        let step = Int64(SpeechDecoder.gapStep)
        return Int((time * Int64(SpeechFormat.sampleRate) / 1_000_000 + step / 2) / step * step)
    }
}
