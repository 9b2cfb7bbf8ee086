import COpus
public import IoTCore
public import NIOCore

/// Writes coded frames, unchanged, in the simplest format that players read: H.264 and H.265 with start codes (Annex B),
/// AAC as ADTS, Opus in Ogg, G.711 in WAVE.
public struct ElementaryStreamWriter: Sendable {
    private enum Format: Sendable {
        case startCodes
        case adts(ADTSHeader)
        case ogg(OggWriter, sampleRate: Int)
        case g711
    }

    private let track: TrackParameters
    private var format: Format
    /// What precedes the first frame.
    private var header = ByteBuffer()

    /// - Throws: `mediaHeaderInvalid` for AAC that ADTS cannot describe.
    public init(_ track: TrackParameters) throws(IoTError) {
        self.track = track
        switch track {
        case .video: format = .startCodes
        case .audio(let audio):
            switch audio.codec {
            case .aac:
                guard let adts = ADTSHeader(describing: audio.audioSpecificConfig) else {
                    throw IoTError(.mediaHeaderInvalid, "this kind of AAC cannot be written as ADTS")
                }
                format = .adts(adts)
            case .opus:
                var writer = OggWriter()
                header = writer.opusHeader(channels: audio.channels, sampleRate: audio.sampleRate)
                format = .ogg(writer, sampleRate: audio.sampleRate)
            case .pcmu, .pcma:
                header = WAVWriter.g711Header(audio)
                format = .g711
            }
        }
    }

    /// For example `video/h264`.
    public static func contentType(_ track: TrackParameters) -> String {
        switch track {
        case .video(let video): "video/\(video.codec.rawValue)"
        case .audio(let audio):
            switch audio.codec {
            case .aac: "audio/aac"
            case .opus: "audio/ogg"
            case .pcmu, .pcma: "audio/wav"
            }
        }
    }

    /// The bytes of the frame, after those of the earlier frames.
    public mutating func write(_ frame: MediaFrame) -> ByteBuffer {
        var output = header
        header.clear()
        switch format {
        case .startCodes: Self.writeUnits(frame.bytes, to: &output)
        case .adts(var adts):
            adts.frameLength = adts.length + frame.bytes.readableBytes
            output.writeBytes(adts.bytes)
            output.writeImmutableBuffer(frame.bytes)
        case .ogg(var writer, let sampleRate):
            let samples = frame.bytes.withUnsafeReadableBytes { bytes -> Int32 in
                guard let first = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
                // Ogg counts the samples of Opus at 48 kHz (RFC 7845 §4).
                return opus_packet_get_nb_samples(first, Int32(clamping: bytes.count), 48_000)
            }
            writer.write(frame.bytes, samples: Int(max(0, samples)), to: &output)
            format = .ogg(writer, sampleRate: sampleRate)
        case .g711: output.writeImmutableBuffer(frame.bytes)
        }
        return output
    }

    private static func writeUnits(_ bytes: ByteBuffer, to output: inout ByteBuffer) {
        bytes.withUnsafeReadableBytes { bytes in
            for range in NALUnitFraming.lengths(size: 4).ranges(in: bytes) {
                output.writeBytes([0, 0, 0, 1])
                output.writeBytes(bytes[range])
            }
        }
    }
}

extension WAVWriter {
    /// The header of a stream of G.711 (`WAVE_FORMAT_ALAW`, `WAVE_FORMAT_MULAW`) of unknown length.
    static func g711Header(_ audio: AudioParameters) -> ByteBuffer {
        var header = ByteBuffer()
        header.writeString("RIFF")
        header.writeInteger(UInt32.max, endianness: .little)
        header.writeString("WAVEfmt ")
        header.writeInteger(UInt32(18), endianness: .little)
        header.writeInteger(UInt16(audio.codec == .pcma ? 6 : 7), endianness: .little)
        header.writeInteger(UInt16(clamping: audio.channels), endianness: .little)
        header.writeInteger(UInt32(clamping: audio.sampleRate), endianness: .little)
        header.writeInteger(UInt32(clamping: audio.sampleRate * audio.channels), endianness: .little)
        header.writeInteger(UInt16(clamping: audio.channels), endianness: .little)
        header.writeInteger(UInt16(8), endianness: .little)
        header.writeInteger(UInt16(0), endianness: .little)
        header.writeString("data")
        header.writeInteger(UInt32.max, endianness: .little)
        return header
    }
}
