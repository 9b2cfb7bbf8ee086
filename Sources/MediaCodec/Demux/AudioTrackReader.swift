import CFFmpeg
import IoTCore
import NIOCore

/// Converts an audio stream's packets into frames.
final class AudioTrackReader {
    private(set) var parameters: AudioParameters

    private let timeBase: AVRational
    private let isLive: Bool
    private var nextPTS: Int64?
    private var gap = StartingGap()

    /// Nil if the product does not support the codec.
    init?(_ stream: UnsafeMutablePointer<AVStream>, isLive: Bool) {
        self.isLive = isLive
        let coded = stream.pointee.codecpar.pointee
        timeBase = stream.pointee.time_base
        let codec: AudioCodec
        switch coded.codec_id {
        case AV_CODEC_ID_AAC: codec = .aac
        case AV_CODEC_ID_PCM_ALAW: codec = .pcma
        case AV_CODEC_ID_PCM_MULAW: codec = .pcmu
        default: return nil
        }
        parameters = AudioParameters(
            codec: codec, sampleRate: Int(coded.sample_rate), channels: Int(coded.ch_layout.nb_channels))
        if codec == .aac, let extradata = coded.extradata, coded.extradata_size > 0 {
            parameters.audioSpecificConfig = Array(
                UnsafeBufferPointer(start: extradata, count: Int(coded.extradata_size)))
        }
        guard parameters.sampleRate > 0, parameters.channels > 0 else { return nil }
    }

    func rewind() {
        nextPTS = nil
        gap = StartingGap()
    }

    /// Returns one frame, or none or several while the first frames wait for their times.
    func read(_ packet: UnsafeMutablePointer<AVPacket>) -> [MediaFrame] {
        guard let timed = parse(packet) else { return [] }
        return isLive ? gap.push(timed, depth: 0).map(place) : [place(timed)]
    }

    func finish() -> [MediaFrame] {
        gap.finish().map(place)
    }

    private func place(_ timed: TimedFrame) -> MediaFrame {
        var frame = timed.frame
        frame.pts = timed.pts ?? nextPTS ?? 0
        frame.dts = frame.pts
        nextPTS = saturating(frame.pts, timed.duration)
        return frame
    }

    private func parse(_ packet: UnsafeMutablePointer<AVPacket>) -> TimedFrame? {
        guard let data = packet.pointee.data, packet.pointee.size > 0 else { return nil }
        var bytes = UnsafeRawBufferPointer(start: data, count: Int(packet.pointee.size))
        if parameters.codec == .aac, let header = ADTSHeader(bytes) {
            // Several access units in one ADTS frame cannot be separated without decoding; no camera sends them.
            // Without a channel configuration in the header, a two-byte AudioSpecificConfig is not possible.
            guard header.accessUnits == 1, header.frameLength <= bytes.count, header.channelConfiguration > 0 else {
                return nil
            }
            take(header)
            bytes = UnsafeRawBufferPointer(rebasing: bytes[header.length..<header.frameLength])
        }
        guard parameters.codec != .aac || !parameters.audioSpecificConfig.isEmpty else { return nil }
        // Audio that an edit list removes (an encoder's priming) is not part of the track.
        guard packet.pointee.flags & AV_PKT_FLAG_DISCARD == 0 else { return nil }
        return TimedFrame(
            frame: MediaFrame(kind: .audio, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: bytes)),
            pts: microseconds(packet.pointee.pts) ?? microseconds(packet.pointee.dts), dts: nil,
            duration: duration(of: packet.pointee))
    }

    private func take(_ header: ADTSHeader) {
        let config = header.audioSpecificConfig
        guard config != parameters.audioSpecificConfig else { return }
        // The first time, keep the sample rate from libav: it has decoded some frames and knows the rate with spectral
        // band replication.
        if !parameters.audioSpecificConfig.isEmpty {
            parameters.sampleRate = header.sampleRate
            if let channels = AudioSpecificConfig(config)?.channels, channels > 0 { parameters.channels = channels }
        }
        parameters.audioSpecificConfig = config
    }

    private func duration(of packet: AVPacket) -> Int64 {
        if packet.duration > 0, let duration = microseconds(packet.duration) { return duration }
        switch parameters.codec {
        case .aac, .opus: return 1024 * 1_000_000 / Int64(parameters.sampleRate)
        case .pcma, .pcmu:
            return Int64(packet.size) * 1_000_000 / Int64(parameters.sampleRate * parameters.channels)
        }
    }

    private func microseconds(_ time: Int64) -> Int64? {
        MediaCodec.microseconds(time, timeBase)
    }
}
