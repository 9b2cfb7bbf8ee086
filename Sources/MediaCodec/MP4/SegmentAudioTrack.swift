import COpus
import IoTCore
import NIOCore

/// The audio track of a segment, on a sample clock without jitter. Takes AAC and Opus.
struct SegmentAudioTrack {
    let parameters: AudioParameters
    var timescale: Int64 { Int64(parameters.sampleRate) }
    /// Of AAC; Opus packets have their own durations.
    private let samplesPerFrame: Int64
    private let earliest: Int64
    private var held: SegmentFrame?

    /// - Parameter earliest: sound from before this time is not part of the segment, in µs from its start.
    /// - Throws: `codecUnsupported` for G.711, which MP4 players do not support, and for AAC without its configuration.
    init(_ parameters: AudioParameters, earliest: Int64) throws(IoTError) {
        guard (1...UInt32.max).contains(UInt32(clamping: parameters.sampleRate)),
            (1...8).contains(parameters.channels)
        else {
            throw IoTError(.codecUnsupported, "the audio's sample rate or number of channels is unknown")
        }
        self.parameters = parameters
        self.earliest = ticks(earliest, Int64(parameters.sampleRate))
        switch parameters.codec {
        case .aac:
            guard let config = AudioSpecificConfig(parameters.audioSpecificConfig), config.coreSampleRate > 0 else {
                throw IoTError(.codecUnsupported, "AAC audio without an AudioSpecificConfig cannot be recorded")
            }
            let samples = Int64(config.coreSamplesPerUnit) * Int64(parameters.sampleRate) / Int64(config.coreSampleRate)
            samplesPerFrame = max(1, samples)
        case .opus:
            samplesPerFrame = Int64(parameters.sampleRate) / 50
        case .pcma, .pcmu:
            throw IoTError(.codecUnsupported, "G.711 audio must be converted before it is recorded")
        }
    }

    /// - Parameter time: the frame's `pts` from the segment's start, µs.
    /// - Returns: the previous frame, whose duration is now known.
    mutating func take(_ frame: MediaFrame, at time: Int64, wallClock: Int64) -> SegmentFrame? {
        var time = ticks(time, timescale)
        let length = samples(in: frame.bytes)
        if let held = held?.sample {
            let next = held.dts + held.duration
            // Times from µs and RTP are rounded. Half a frame is more than any rounding error and less than a lost
            // frame.
            if abs(time - next) <= min(length, held.duration) / 2 {
                time = next
            } else if time < next {
                return nil
            }
        }
        guard time >= earliest else { return nil }
        if let begin = held?.sample.dts { held?.sample.duration = time - begin }
        let sample = SegmentSample(
            byteCount: frame.bytes.readableBytes, pts: time, dts: time, duration: length, isKey: true,
            wallClock: wallClock)
        var released: SegmentFrame? = SegmentFrame(sample: sample, bytes: frame.bytes)
        swap(&held, &released)
        return released
    }

    mutating func finish() -> SegmentFrame? {
        held.take()
    }

    /// The samples in a coded frame.
    private func samples(in bytes: ByteBuffer) -> Int64 {
        guard parameters.codec == .opus else { return samplesPerFrame }
        let count = bytes.withUnsafeReadableBytes { bytes -> Int32 in
            guard let first = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
            return opus_packet_get_nb_samples(
                first, Int32(clamping: bytes.count), Int32(clamping: parameters.sampleRate))
        }
        return count > 0 ? Int64(count) : samplesPerFrame
    }
}
