import CFFmpeg
import COpus
import IoTCore
import NIOCore

/// The audio track of a recording, on a sample clock without jitter. AAC and Opus are copied, G.711 is transcoded to AAC.
final class AudioTrackWriter {
    private let parameters: AudioParameters
    private let transcoder: Transcoder?
    private let sampleRate: Int
    private let channels: Int
    /// The decoder's configuration in the file's header.
    private let header: [UInt8]
    /// Of AAC; Opus packets have their own durations.
    private let samplesPerFrame: Int64
    private var stream: Int32 = -1
    private var clock: Int64
    private var expected: Int64?
    private var held: MuxedSample?

    /// G.711 in, AAC out.
    private struct Transcoder {
        let decoder: AudioDecoder
        let encoder: AACEncoder
    }

    init(_ parameters: AudioParameters) throws(IoTError) {
        self.parameters = parameters
        sampleRate = parameters.sampleRate
        channels = parameters.channels
        clock = Int64(parameters.sampleRate)
        guard sampleRate > 0, channels > 0 else {
            throw IoTError(.codecUnsupported, "the audio's sample rate or number of channels is unknown")
        }
        switch parameters.codec {
        case .aac:
            guard let config = AudioSpecificConfig(parameters.audioSpecificConfig) else {
                throw IoTError(.codecUnsupported, "AAC audio without an AudioSpecificConfig cannot be recorded")
            }
            transcoder = nil
            header = parameters.audioSpecificConfig
            samplesPerFrame = max(
                1, Int64(config.coreSamplesPerUnit) * Int64(sampleRate) / Int64(config.coreSampleRate))
        case .pcma, .pcmu:
            let encoder = try AACEncoder(sampleRate: sampleRate, channels: channels)
            transcoder = Transcoder(decoder: try AudioDecoder(parameters), encoder: encoder)
            header = encoder.audioSpecificConfig
            samplesPerFrame = Int64(AACEncoder.frameLength)
        case .opus:
            transcoder = nil
            header = Self.opusHeader(channels: channels)
            samplesPerFrame = Int64(sampleRate) / 50
        }
    }

    /// The identification header of RFC 7845 §5.1, from which libavformat makes the box `dOps`. Nothing is skipped at the
    /// beginning, because the stream began before the recording.
    private static func opusHeader(channels: Int) -> [UInt8] {
        Array("OpusHead".utf8) + [1, UInt8(clamping: channels), 0, 0, 0x80, 0xBB, 0, 0, 0, 0, 0]
    }

    /// The samples in a coded frame.
    private func samples(in bytes: ByteBuffer) -> Int64 {
        guard parameters.codec == .opus else { return samplesPerFrame }
        let count = bytes.withUnsafeReadableBytes { bytes -> Int32 in
            guard let first = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
            return opus_packet_get_nb_samples(first, Int32(clamping: bytes.count), Int32(sampleRate))
        }
        return count > 0 ? Int64(count) : samplesPerFrame
    }

    func start(_ output: FormatOutput) throws(IoTError) {
        stream = try output.addStream(ticks: sampleRate) { coded throws(IoTError) in
            coded.pointee.codec_type = AVMEDIA_TYPE_AUDIO
            coded.pointee.codec_id = parameters.codec == .opus ? AV_CODEC_ID_OPUS : AV_CODEC_ID_AAC
            coded.pointee.sample_rate = Int32(sampleRate)
            coded.pointee.frame_size = Int32(samplesPerFrame)
            av_channel_layout_default(&coded.pointee.ch_layout, Int32(channels))
            try FormatOutput.setExtradata(header, of: coded)
        }
    }

    func settleClock(_ output: FormatOutput) {
        clock = output.ticks(of: stream)
    }

    func take(_ frame: MediaFrame, base: Int64) throws(IoTError) -> [MuxedSample] {
        let (time, overflow) = frame.pts.subtractingReportingOverflow(base)
        guard !overflow, time.magnitude < 1 << 50 else {
            throw IoTError(.mediaFailed, "the audio clock jumped too far", remedy: "start a new recording")
        }
        guard let transcoder else {
            return place(frame.bytes, at: ticks(time, clock))
        }
        var samples: [MuxedSample] = []
        for buffer in try transcoder.decoder.decode(frame) {
            samples += try transcode(buffer, at: ticks(time, Int64(sampleRate)), transcoder)
        }
        return samples
    }

    func finish() throws(IoTError) -> [MuxedSample] {
        var samples: [MuxedSample] = []
        for packet in try transcoder?.encoder.finish() ?? [] {
            samples += place(packet.bytes, at: packet.pts)
        }
        if let held { samples.append(held) }
        held = nil
        return samples
    }

    private func transcode(
        _ buffer: AudioBuffer, at pts: Int64, _ transcoder: Transcoder
    ) throws(IoTError) -> [MuxedSample] {
        var packets: [EncodedPacket] = []
        // Audio packets are treated as contiguous; only a gap over 0.1 s restarts the clock.
        let tolerance = Int64(sampleRate / 10)
        if let expected {
            let next = transcoder.encoder.nextPTS
            guard pts >= next - tolerance else { return [] }
            if pts > next + tolerance {
                packets += try transcoder.encoder.start(at: max(pts, expected))
            }
        } else {
            packets += try transcoder.encoder.start(at: pts)
        }
        packets += try transcoder.encoder.encode(buffer)
        expected = transcoder.encoder.nextPTS
        var samples: [MuxedSample] = []
        for packet in packets { samples += place(packet.bytes, at: packet.pts) }
        return samples
    }

    /// - Returns: The previous sample with its duration, which is now known.
    private func place(_ bytes: ByteBuffer, at pts: Int64) -> [MuxedSample] {
        var time = pts
        let length = samples(in: bytes)
        if let held {
            let next = held.dts + held.duration
            // Times from µs and RTP are rounded. Half a frame is more than any rounding error and less than a lost
            // frame.
            if abs(time - next) <= min(length, held.duration) / 2 {
                time = next
            } else if time < next {
                return []
            }
        }
        // Audio before the first picture is not part of the recording. This includes the encoder's priming.
        guard time >= 0 else { return [] }
        let sample = MuxedSample(
            stream: stream, bytes: bytes, pts: time, dts: time, duration: length, isKey: true,
            isFragmentStart: false, time: time * 1_000_000 / max(1, clock))
        defer { held = sample }
        guard var released = held else { return [] }
        released.duration = time - released.dts
        return [released]
    }
}
