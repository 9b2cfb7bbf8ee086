package import IoTCore
import NIOCore

/// Sound as a recording stores it: AAC and Opus as they come, G.711 as AAC, because players do not support G.711 in MP4.
/// Not Sendable.
package final class RecordedSound {
    /// G.711 in, AAC out.
    private struct Transcoder {
        let decoder: AudioDecoder
        let encoder: AACEncoder
        /// The end of the samples so far.
        var expected: Int64?
    }

    /// Of the frames that `take` returns.
    package let parameters: AudioParameters
    private let source: AudioParameters
    private let rate: Int64
    private var transcoder: Transcoder?

    /// - Throws: `codecUnsupported` for an unknown sample rate or number of channels.
    package init(_ source: AudioParameters) throws(IoTError) {
        self.source = source
        rate = Int64(source.sampleRate)
        guard source.sampleRate > 0, source.channels > 0 else {
            throw IoTError(.codecUnsupported, "the audio's sample rate or number of channels is unknown")
        }
        guard source.codec == .pcma || source.codec == .pcmu else {
            parameters = source
            return
        }
        let encoder = try AACEncoder(sampleRate: source.sampleRate, channels: source.channels)
        transcoder = Transcoder(decoder: try AudioDecoder(source), encoder: encoder)
        parameters = AudioParameters(
            codec: .aac, sampleRate: source.sampleRate, channels: source.channels,
            audioSpecificConfig: encoder.audioSpecificConfig)
    }

    /// Whether frames are stored as they come.
    package var isUnchanged: Bool { transcoder == nil }

    /// The frames to store. Those of G.711 come later: AAC has frames of 1024 samples, and its encoder looks ahead.
    package func take(_ frame: MediaFrame) throws(IoTError) -> [MediaFrame] {
        guard let transcoder else { return [frame] }
        guard frame.pts.magnitude < 1 << 52 else {
            throw IoTError(.mediaFailed, "the audio clock jumped too far", remedy: "start a new recording")
        }
        var packets: [EncodedPacket] = []
        for buffer in try transcoder.decoder.decode(frame) {
            packets += try encode(buffer, at: ticks(frame.pts, rate), transcoder)
        }
        return frames(packets)
    }

    /// The same without the samples that wait for the encoder.
    package func restarted() throws(IoTError) -> RecordedSound { try RecordedSound(source) }

    /// The rest.
    package func finish() throws(IoTError) -> [MediaFrame] {
        frames(try transcoder?.encoder.finish() ?? [])
    }

    private func encode(
        _ buffer: AudioBuffer, at pts: Int64, _ transcoder: Transcoder
    ) throws(IoTError) -> [EncodedPacket] {
        let encoder = transcoder.encoder
        var packets: [EncodedPacket] = []
        // Audio packets are treated as contiguous; only a gap over 0.1 s restarts the clock.
        let tolerance = rate / 10
        if let expected = transcoder.expected {
            guard pts >= encoder.nextPTS - tolerance else { return [] }
            if pts > encoder.nextPTS + tolerance { packets += try encoder.start(at: max(pts, expected)) }
        } else {
            packets += try encoder.start(at: pts)
        }
        packets += try encoder.encode(buffer.samples)
        self.transcoder?.expected = encoder.nextPTS
        return packets
    }

    private func frames(_ packets: [EncodedPacket]) -> [MediaFrame] {
        packets.map { packet in
            let pts = microseconds(packet.pts, rate)
            return MediaFrame(kind: .audio, isKeyFrame: true, pts: pts, dts: pts, bytes: packet.bytes)
        }
    }
}
