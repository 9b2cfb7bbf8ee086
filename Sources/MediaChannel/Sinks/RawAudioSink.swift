import Foundation
import IoTCore
import MediaCodec
import NIOCore

/// Writes decoded sound as WAV. Gaps of its clock are filled with silence, so that its length stays true.
final class RawAudioSink: SoundSink {
    /// µs; a longer gap is a break in the clock, not lost sound.
    static let longestGap: Int64 = 1_000_000

    /// Bytes that may wait for the reader.
    static let queueLimit = 4 << 20

    private let stream: ChunkStream
    private var writer = WAVWriter()
    private var format: (rate: Int, channels: Int)?
    private var nextPts: Int64?

    init(stream: ChunkStream) {
        self.stream = stream
    }

    func take(_ sound: AudioBuffer, report: (SinkReport) -> Void) -> Bool {
        if let format, format != (sound.sampleRate, sound.channels) {
            stream.fail(IoTError(.mediaHeaderInvalid, "the sound's format changed"))
            return false
        }
        var chunk = ByteBuffer()
        if format == nil {
            chunk = writer.header(sampleRate: sound.sampleRate, channels: sound.channels)
            format = (sound.sampleRate, sound.channels)
        }
        if let expected = nextPts { chunk.writeRepeatingByte(0, count: silence(from: expected, to: sound)) }
        do throws(IoTError) {
            chunk.writeImmutableBuffer(try writer.samples(sound))
        } catch {
            stream.fail(error)
            return false
        }
        nextPts = sound.pts + Int64(sound.frameCount) * 1_000_000 / Int64(sound.sampleRate)
        switch stream.write(chunk, patience: RawVideoSink.patience) {
        case .written: return true
        case .dropped:
            report(.slowReader(frames: 1))
            return true
        case .closed: return false
        }
    }

    func end(_ reason: IoTError?) {
        if let reason { stream.fail(reason) } else { stream.finish() }
    }

    /// Bytes of silence between the expected time and the sound's. Less than 20 ms is the clock's rounding.
    private func silence(from expected: Int64, to sound: AudioBuffer) -> Int {
        let gap = sound.pts - expected
        guard gap >= 20_000, gap <= Self.longestGap else { return 0 }
        return Int(gap * Int64(sound.sampleRate) / 1_000_000) * sound.channels * 2
    }
}
