public import IoTCore

extension RTPCodec {
    /// The codec for a track with these parameters. Use the static payload types 0 and 8 for mono PCMU and PCMA.
    public init(_ parameters: TrackParameters, payloadType: UInt8) {
        switch parameters {
        case .video(let video): self.init(video, payloadType: payloadType)
        case .audio(let audio): self.init(audio, payloadType: payloadType)
        }
    }

    private init(_ video: VideoParameters, payloadType: UInt8) {
        self.init(payloadType: payloadType, encodingName: video.codec.rtpName, clockRate: 90_000)
        switch video.codec {
        case .h264:
            let sps = video.parameterSets.first { ($0.first ?? 0) & 0x1F == 7 && $0.count >= 4 }
            formatParameters = [
                "level-asymmetry-allowed": "1",
                "packetization-mode": "1",
                // The SPS holds profile, constraints and level in this form. The default is Constrained Baseline 3.1.
                "profile-level-id": sps.map { Hex.encode($0[1...3]) } ?? "42e01f",
            ]
            if !video.parameterSets.isEmpty {
                formatParameters["sprop-parameter-sets"] = Self.base64List(video.parameterSets)
            }
        case .h265:
            for (name, type) in Self.h265SetNames {
                let sets = video.parameterSets.filter { $0.count > 2 && $0[0] >> 1 & 0x3F == type }
                if !sets.isEmpty { formatParameters[name] = Self.base64List(sets) }
            }
            let sps = video.parameterSets.first { $0.count > 2 && $0[0] >> 1 & 0x3F == 33 }
            if let sps { formatParameters.merge(Self.h265Profile(sps)) { first, _ in first } }
        }
    }

    private init(_ audio: AudioParameters, payloadType: UInt8) {
        switch audio.codec {
        case .aac:
            let configuration = AudioSpecificConfig(audio.audioSpecificConfig)
            let channels = configuration.map(\.channels).flatMap { $0 > 0 ? $0 : nil } ?? audio.channels
            self.init(
                payloadType: payloadType, encodingName: "mpeg4-generic",
                clockRate: configuration?.sampleRate ?? audio.sampleRate, channels: channels,
                formatParameters: [
                    "streamtype": "5", "profile-level-id": "1", "mode": "AAC-hbr",
                    "config": Hex.encode(audio.audioSpecificConfig),
                    "sizelength": "13", "indexlength": "3", "indexdeltalength": "3",
                ])
        case .pcmu, .pcma:
            self.init(
                payloadType: payloadType, encodingName: audio.codec == .pcmu ? "PCMU" : "PCMA", clockRate: 8_000,
                channels: audio.channels)
        case .opus:
            // RFC 7587 §7: rtpmap always says 48000 and 2; `sprop-stereo` is what is sent.
            self.init(
                payloadType: payloadType, encodingName: "opus", clockRate: 48_000, channels: 2,
                formatParameters: audio.channels > 1 ? ["sprop-stereo": "1", "stereo": "1"] : [:])
        }
    }

    /// The track parameters from the peer's SDP; `nil` if the format is not supported or its parameters are malformed, and
    /// for MPEG audio, whose parameters are in its frames.
    /// The SDP holds no picture size, frame rate or reordering depth.
    public var trackParameters: TrackParameters? {
        switch format {
        case .h264:
            let sets = Self.sets(formatParameters["sprop-parameter-sets"])
            return .video(VideoParameters(codec: .h264, parameterSets: sets))
        case .h265:
            let sets = Self.h265SetNames.flatMap { Self.sets(formatParameters[$0.name]) }
            return .video(VideoParameters(codec: .h265, parameterSets: sets))
        case .aac:
            guard let bytes = formatParameters["config"].flatMap({ Hex.decode($0) }),
                let configuration = AudioSpecificConfig(bytes)
            else { return nil }
            return .audio(
                AudioParameters(
                    codec: .aac, sampleRate: configuration.sampleRate,
                    channels: configuration.channels > 0 ? configuration.channels : channels,
                    audioSpecificConfig: bytes))
        case .pcmu: return .audio(AudioParameters(codec: .pcmu, sampleRate: 8_000, channels: channels))
        case .pcma: return .audio(AudioParameters(codec: .pcma, sampleRate: 8_000, channels: channels))
        case .opus:
            let isStereo = formatParameters["sprop-stereo"] == "1"
            return .audio(AudioParameters(codec: .opus, sampleRate: 48_000, channels: isStereo ? 2 : 1))
        case .mpegAudio, nil: return nil
        }
    }

    private static let h265SetNames: [(name: String, type: UInt8)] = [
        ("sprop-vps", 32), ("sprop-sps", 33), ("sprop-pps", 34),
    ]

    private static func base64List(_ sets: [[UInt8]]) -> String {
        sets.map(Base64.encode).joined(separator: ",")
    }

    /// Malformed sets are left out, because the stream carries its own.
    private static func sets(_ text: String?) -> [[UInt8]] {
        (text ?? "").split(separator: ",").compactMap { Base64.decode($0) }.filter { !$0.isEmpty }
    }

    /// profile_tier_level (H.265 §7.3.3) follows the NAL unit header and the first byte of the SPS.
    private static func h265Profile(_ sps: [UInt8]) -> [String: String] {
        var bytes: [UInt8] = []
        for byte in sps.prefix(24) {
            // Emulation prevention (§7.3.1.1)
            if byte == 3, bytes.count >= 2, bytes.suffix(2) == [0, 0] { continue }
            bytes.append(byte)
        }
        guard bytes.count >= 15 else { return [:] }
        return [
            "profile-id": String(bytes[3] & 0x1F), "tier-flag": String(bytes[3] >> 5 & 1),
            "level-id": String(bytes[14]),
        ]
    }
}
