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
    private var cut: SoundCut<AudioBuffer>?

    /// `frames`: behind how many pictures to end; `nil` for never. `frameRate`: 0 when unknown.
    init(frames: Int?, frameRate: Double, stream: ChunkStream) {
        cut = frames.map { SoundCut(pictures: $0, frameRate: frameRate) }
        self.stream = stream
    }

    func take(_ sound: AudioBuffer, presentAt: NIODeadline, report: (SinkReport) -> Void) -> Bool {
        guard cut != nil else { return write(sound, report: report) }
        return write(cut?.take(sound, presentAt: presentAt) ?? [], report: report)
    }

    func pass(pictureAt presentAt: NIODeadline, report: (SinkReport) -> Void) -> Bool {
        guard cut != nil else { return true }
        return write(cut?.pass(pictureAt: presentAt) ?? [], report: report)
    }

    func end(_ reason: IoTError?) {
        _ = write(cut?.finish() ?? []) { _ in }
        if let reason { stream.fail(reason) } else { stream.finish() }
    }

    /// What the cut gave out; at its end the sink's own.
    private func write(_ sounds: [AudioBuffer], report: (SinkReport) -> Void) -> Bool {
        guard sounds.allSatisfy({ write($0, report: report) }) else { return false }
        guard cut?.isOver == true else { return true }
        stream.finish()
        return false
    }

    private func write(_ sound: AudioBuffer, report: (SinkReport) -> Void) -> Bool {
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

    /// Bytes of silence between the expected time and the sound's. Less than 20 ms is the clock's rounding.
    private func silence(from expected: Int64, to sound: AudioBuffer) -> Int {
        let gap = sound.pts - expected
        guard gap >= 20_000, gap <= Self.longestGap else { return 0 }
        return Int(gap * Int64(sound.sampleRate) / 1_000_000) * sound.channels * 2
    }
}
