package import IoTCore
package import RTP

/// The codec in which a camera receives sound.
package struct BackChannelFormat: Sendable, Hashable {
    /// PCMU, PCMA or AAC.
    package var codec: AudioCodec
    /// In Hz. It is also the rate of the RTP clock.
    package var sampleRate: Int
    package var channels: Int
    package var payloadType: UInt8
    /// Empty except for AAC.
    package var audioSpecificConfig: [UInt8] = []

    /// The sample rates with which cameras offer G.711.
    private static let sampleRatesOfG711: Set<Int> = [8_000, 16_000]
    private static let lowComplexity = 2

    /// `nil` for a codec that is not sent.
    package init?(_ offered: RTPCodec) {
        payloadType = offered.payloadType
        sampleRate = offered.clockRate
        channels = max(offered.channels, 1)
        let name = offered.encodingName.lowercased()
        switch (offered.payloadType, name) {
        // Quirk 18: an H3C camera maps payload type 0 to PCMA and to PCMU (AlexxIT/go2rtc#1426). The static types are
        // fixed (RFC 3551 §6).
        case (0, "pcma"), (_, "pcmu"): codec = .pcmu
        case (8, "pcmu"), (_, "pcma"): codec = .pcma
        case (_, "mpeg4-generic"):
            codec = .aac
            guard offered.format == .aac, let config = offered.formatParameters["config"].flatMap({ Hex.decode($0) }),
                let parsed = AudioSpecificConfig(config), parsed.objectType == Self.lowComplexity,
                parsed.sampleRate == sampleRate, parsed.coreSampleRate == sampleRate,
                parsed.coreSamplesPerUnit == 1_024, (1...2).contains(parsed.channels)
            else { return nil }
            channels = parsed.channels
            audioSpecificConfig = config
            return
        default: return nil
        }
        guard Self.sampleRatesOfG711.contains(sampleRate), channels == 1 else { return nil }
    }

    /// The best one: G.711 at 8 kHz, which ONVIF requires and every camera plays; then G.711 at 16 kHz; then AAC, whose
    /// configuration some cameras do not say. Among equals, the camera's first.
    package static func best(_ offered: [RTPCodec]) -> BackChannelFormat? {
        offered.compactMap { BackChannelFormat($0) }.min { $0.rank < $1.rank }
    }

    private var rank: Int { codec == .aac ? 2 : sampleRate == 8_000 ? 0 : 1 }

    /// For the encoder.
    package var parameters: AudioParameters {
        AudioParameters(
            codec: codec, sampleRate: sampleRate, channels: channels, audioSpecificConfig: audioSpecificConfig)
    }

    /// For the sender of RTP.
    var rtpCodec: RTPCodec {
        let name = codec == .aac ? "mpeg4-generic" : codec == .pcmu ? "PCMU" : "PCMA"
        return RTPCodec(payloadType: payloadType, encodingName: name, clockRate: sampleRate, channels: channels)
    }
}
