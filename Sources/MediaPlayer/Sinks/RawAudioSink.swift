import IoTCore
import MediaCodec
import NIOCore

/// Writes decoded sound as WAV. Gaps in its clock are filled with silence to keep its duration correct.
///
/// Sound that the reader lost is replaced by silence of the same duration, but at most the longest gap: more would take
/// the room of the sound after it.
final class RawAudioSink: SoundSink {
    /// µs; a longer gap is a break in the clock, or sound that the reader lost.
    static let longestGap: Int64 = 1_000_000

    /// The limits of what waits for the reader: 20 s of 48 kHz stereo (192 kB/s).
    static let limits = SinkLimits(duration: 20_000_000, bytes: 4 << 20)

    private let stream: ChunkStream
    private var writer = WAVWriter()
    private var format: (rate: Int, channels: Int)?
    private var nextPts: Int64?
    private var hasLost = false
    private var cut: SoundCut<AudioBuffer>?

    /// `frames`: the number of pictures after which to end; `nil` for never. `frameRate`: 0 if unknown.
    init(frames: Int?, frameRate: Double, stream: ChunkStream) {
        cut = frames.map { SoundCut(pictures: $0, frameRate: frameRate) }
        self.stream = stream
    }

    func take(_ sound: AudioBuffer, presentAt: NIODeadline) -> Bool {
        hasLost = hasLost || stream.followsLoss
        guard cut != nil else { return write(sound) }
        return write(cut?.take(sound, presentAt: presentAt) ?? [])
    }

    func pass(pictureAt presentAt: NIODeadline) -> Bool {
        guard cut != nil else { return true }
        return write(cut?.pass(pictureAt: presentAt) ?? [])
    }

    func end(_ reason: IoTError?) {
        _ = write(cut?.finish() ?? [])
        if let reason { stream.fail(reason) } else { stream.finish() }
    }

    /// Writes the sound that the cut returned; ends the sink when the cut has ended.
    private func write(_ sounds: [AudioBuffer]) -> Bool {
        guard sounds.allSatisfy({ write($0) }) else { return false }
        guard cut?.isOver == true else { return true }
        stream.finish()
        return false
    }

    private func write(_ sound: AudioBuffer) -> Bool {
        if let format, format != (sound.sampleRate, sound.channels) {
            stream.fail(IoTError(.mediaHeaderInvalid, "the sound's format changed"))
            return false
        }
        var before = ByteBuffer()
        if format == nil {
            before = writer.header(sampleRate: sound.sampleRate, channels: sound.channels)
            format = (sound.sampleRate, sound.channels)
        }
        if let expected = nextPts { before.writeRepeatingByte(0, count: silence(from: expected, to: sound)) }
        nextPts = sound.pts + sound.duration
        do throws(IoTError) {
            if before.readableBytes > 0, !stream.write(before) { return false }
            return stream.write(try writer.samples(sound))
        } catch {
            stream.fail(error)
            return false
        }
    }

    /// Bytes of silence between the expected time and the sound's time. Less than 20 ms is a rounding error of the
    /// clock.
    private func silence(from expected: Int64, to sound: AudioBuffer) -> Int {
        var gap = sound.pts - expected
        guard gap >= 20_000 else { return 0 }
        if hasLost { gap = min(gap, Self.longestGap) }
        hasLost = false
        guard gap <= Self.longestGap else { return 0 }
        return Int(gap * Int64(sound.sampleRate) / 1_000_000) * sound.channels * 2
    }
}
