import COpus
package import IoTCore

/// Decodes Opus to 48 kHz mono, and replaces lost packets.
///
/// Not Sendable.
package final class SpeechDecoder {
    /// Samples: a packet lasts at most 120 ms (RFC 6716 §3.2.5).
    private static let longestPacket = 5_760
    /// Samples: a gap that `recover` or `conceal` fills is a multiple of 2.5 ms.
    package static let gapStep = 120
    /// Samples: a longer gap is not filled, because libopus would go on with a buzz.
    package static let longestGap = 5_760

    private let decoder: OpaquePointer

    package init() throws(IoTError) {
        var code: Int32 = 0
        guard let decoder = opus_decoder_create(Int32(SpeechFormat.sampleRate), 1, &code) else {
            throw .opus(code, whileDoing: "starting")
        }
        self.decoder = decoder
    }

    deinit {
        opus_decoder_destroy(decoder)
    }

    /// The samples of a packet; none if the packet is damaged.
    package func decode(_ packet: [UInt8]) -> [Int16] {
        // libopus takes an empty packet for a lost one.
        guard !packet.isEmpty else { return [] }
        return call(packet, capacity: Self.longestPacket, usesFEC: false)
    }

    /// The samples of the lost packets before `next`, which must be decoded afterwards. The last of them comes from
    /// the FEC in `next`, if it has one; the others are concealed.
    ///
    /// - Parameter sampleCount: is rounded down to a multiple of `gapStep`, and limited to `longestGap`.
    package func recover(from next: [UInt8], sampleCount: Int = SpeechFormat.frameLength) -> [Int16] {
        guard !next.isEmpty else { return conceal(sampleCount) }
        let count = Self.rounded(sampleCount)
        guard count > 0 else { return [] }
        let sound = call(next, capacity: count, usesFEC: true)
        return sound.isEmpty ? conceal(count) : sound
    }

    /// Continues the sound without a packet. `sampleCount` is treated as in `recover(from:sampleCount:)`.
    package func conceal(_ sampleCount: Int) -> [Int16] {
        let count = Self.rounded(sampleCount)
        return count > 0 ? call(nil, capacity: count, usesFEC: false) : []
    }

    /// Forgets the sound so far: the next packet does not follow it.
    package func reset() {
        _ = copus_reset_decoder(decoder)
    }

    private static func rounded(_ sampleCount: Int) -> Int {
        max(0, min(sampleCount, longestGap)) / gapStep * gapStep
    }

    private func call(_ packet: [UInt8]?, capacity: Int, usesFEC: Bool) -> [Int16] {
        [Int16](unsafeUninitializedCapacity: capacity) { samples, count in
            guard let start = samples.baseAddress else { return }
            let result: Int32
            if let packet {
                result = packet.withUnsafeBufferPointer {
                    opus_decode(
                        decoder, $0.baseAddress, Int32(clamping: $0.count), start, Int32(capacity),
                        usesFEC ? 1 : 0)
                }
            } else {
                result = opus_decode(decoder, nil, 0, start, Int32(capacity), 0)
            }
            count = max(0, Int(result))
        }
    }
}
