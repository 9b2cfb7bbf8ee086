import COpus
package import IoTCore

/// Encodes 48 kHz mono speech as Opus, in packets of 20 ms. It calls libopus itself, because libavcodec's encoder has no
/// DTX.
///
/// Not Sendable.
package final class SpeechEncoder {
    /// A packet of one frame is not larger (RFC 6716 §3.2.1: 1,275 bytes and the TOC).
    private static let longestPacket = 1_276
    /// libopus returns at most this many bytes for a frame that need not be sent.
    private static let longestUnsent = 2

    private let encoder: OpaquePointer
    private let usesDTX: Bool

    /// - Parameters:
    ///   - bitrate: bits per second. libopus sends no FEC below about 16,000.
    ///   - expectedLoss: percent. The more loss is expected, the more bits go into FEC.
    ///   - usesFEC: each packet also contains the frame before it with less quality (RFC 6716 §2.1.7).
    ///   - usesDTX: silence is not sent, but one frame in 400 ms (RFC 6716 §2.1.9).
    package init(
        bitrate: Int = 32_000, expectedLoss: Int = 10, usesFEC: Bool = true, usesDTX: Bool = true
    ) throws(IoTError) {
        guard (6_000...510_000).contains(bitrate), (0...100).contains(expectedLoss) else {
            throw IoTError(.invalidParameter, "Opus needs 6,000 to 510,000 bit/s and a loss of 0 to 100 %")
        }
        var code: Int32 = 0
        guard
            let encoder = opus_encoder_create(
                Int32(SpeechFormat.sampleRate), 1, OPUS_APPLICATION_VOIP, &code)
        else { throw .opus(code, whileDoing: "starting") }
        self.encoder = encoder
        self.usesDTX = usesDTX
        _ = copus_set_bitrate(encoder, Int32(bitrate))
        _ = copus_set_voice(encoder)
        _ = copus_set_fec(encoder, usesFEC ? 1 : 0)
        _ = copus_set_expected_loss(encoder, Int32(expectedLoss))
        _ = copus_set_dtx(encoder, usesDTX ? 1 : 0)
    }

    deinit {
        opus_encoder_destroy(encoder)
    }

    /// - Parameter samples: `SpeechFormat.frameLength` samples.
    /// - Returns: one packet, or `nil` for silence that need not be sent.
    package func encode(_ samples: UnsafeBufferPointer<Int16>) throws(IoTError) -> [UInt8]? {
        guard samples.count == SpeechFormat.frameLength, let start = samples.baseAddress else {
            throw IoTError(.invalidParameter, "a frame of speech has \(SpeechFormat.frameLength) samples")
        }
        var count: Int32 = 0
        let packet = [UInt8](unsafeUninitializedCapacity: Self.longestPacket) { bytes, length in
            guard let target = bytes.baseAddress else { return }
            count = opus_encode(
                encoder, start, Int32(SpeechFormat.frameLength), target, Int32(Self.longestPacket))
            length = max(0, Int(count))
        }
        guard count > 0 else { throw .opus(count, whileDoing: "encoding") }
        guard !usesDTX || count > Self.longestUnsent else { return nil }
        return packet
    }
}

extension IoTError {
    static func opus(_ code: Int32, whileDoing action: String) -> IoTError {
        let reason = opus_strerror(code).map { String(cString: $0) } ?? "error \(code)"
        return IoTError(.mediaFailed, "libopus failed at \(action): \(reason)")
    }
}
