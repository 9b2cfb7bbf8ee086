import IoTCore
import Testing

@testable import RTP

@Suite struct RTPCodecTests {
    private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

    @Test("H.264: the SDP contains the parameter sets, and they are parsed back")
    func h264() {
        let sets = [bytes("6742c01fd9005005bb011000000300100000030320f1832480"), bytes("68cb83cb20")]
        let codec = RTPCodec(.video(VideoParameters(codec: .h264, parameterSets: sets)), payloadType: 96)
        #expect(codec.rtpmap == "H264/90000")
        #expect(
            codec.formatParametersText == """
                level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42c01f;\
                sprop-parameter-sets=Z0LAH9kAUAW7ARAAAAMAEAAAAwMg8YMkgA==,aMuDyyA=
                """)
        let back = RTPCodec(payloadType: 96, rtpmap: codec.rtpmap, fmtp: codec.formatParametersText)
        #expect(back == codec)
        #expect(back?.trackParameters == .video(VideoParameters(codec: .h264, parameterSets: sets)))
    }

    @Test("H.265: the SDP has a parameter each for VPS, SPS and PPS, and the profile")
    func h265() {
        let sets = [
            bytes("40010c01ffff01600000030090000003000003005dac09"),
            bytes("420101016000000300900000030000030078a003c08010e5"), bytes("4401c172b46240"),
        ]
        let codec = RTPCodec(.video(VideoParameters(codec: .h265, parameterSets: sets)), payloadType: 97)
        #expect(codec.formatParameters["level-id"] == "120")
        #expect(codec.formatParameters["profile-id"] == "1")
        #expect(codec.formatParametersText?.hasPrefix("profile-id=1;tier-flag=0;level-id=120;sprop-vps=QAEM") == true)
        let back = RTPCodec(payloadType: 97, rtpmap: "h265/90000", fmtp: codec.formatParametersText)
        #expect(back?.trackParameters == .video(VideoParameters(codec: .h265, parameterSets: sets)))
    }

    @Test("AAC: the mode of RFC 3640, with sample rate and channels from the configuration")
    func aac() {
        let parameters = AudioParameters(
            codec: .aac, sampleRate: 48_000, channels: 6, audioSpecificConfig: [0x11, 0xB0])
        let codec = RTPCodec(.audio(parameters), payloadType: 98)
        #expect(codec.rtpmap == "mpeg4-generic/48000/6")
        #expect(
            codec.formatParametersText == """
                profile-level-id=1;streamtype=5;mode=AAC-hbr;config=11b0;sizelength=13;indexlength=3;indexdeltalength=3
                """)
        #expect(codec.trackParameters == .audio(parameters))
    }

    @Test("Names and modes are parsed case-insensitively and with spaces; unsupported codecs are recognised")
    func reading() {
        let fmtp = " StreamType=5; MODE=aac-HBR ; config=1210; SizeLength=13; IndexLength=3; IndexDeltaLength=3; "
        let codec = RTPCodec(payloadType: 98, rtpmap: "MPEG4-GENERIC/44100/2", fmtp: fmtp)
        #expect(
            codec?.trackParameters
                == .audio(
                    AudioParameters(codec: .aac, sampleRate: 44_100, channels: 2, audioSpecificConfig: [0x12, 0x10])))
        #expect(RTPCodec(payloadType: 98, rtpmap: "mpeg4-generic/44100", fmtp: "mode=AAC-lbr")?.trackParameters == nil)
        #expect(RTPCodec(payloadType: 98, rtpmap: "H264/90000", fmtp: "packetization-mode=2")?.format == nil)
        #expect(RTPCodec(payloadType: 98, rtpmap: "H264/90000", fmtp: nil)?.format == .h264)
        #expect(RTPCodec(payloadType: 98, rtpmap: "H265/90000", fmtp: "sprop-max-don-diff=2")?.format == nil)
        #expect(RTPCodec(payloadType: 98, rtpmap: "VP8/90000", fmtp: nil)?.encodingName == "VP8")
        for rtpmap in ["", "H264", "H264/", "H264/x", "H264/0", "H264/-1", "/90000"] {
            #expect(RTPCodec(payloadType: 98, rtpmap: rtpmap, fmtp: nil) == nil, "\(rtpmap)")
        }
    }

    @Test("G.711 has static payload types, Opus a fixed clock rate")
    func others() {
        #expect(RTPCodec(payloadType: 8, rtpmap: nil, fmtp: nil)?.format == .pcma)
        #expect(RTPCodec(payloadType: 0, rtpmap: nil, fmtp: nil)?.format == .pcmu)
        #expect(RTPCodec(payloadType: 9, rtpmap: nil, fmtp: nil) == nil)
        for parameters in [
            AudioParameters(codec: .pcma, sampleRate: 8_000, channels: 1),
            AudioParameters(codec: .opus, sampleRate: 48_000, channels: 2),
            AudioParameters(codec: .opus, sampleRate: 48_000, channels: 1),
        ] {
            #expect(RTPCodec(.audio(parameters), payloadType: 8).trackParameters == .audio(parameters))
        }
        let opus = RTPCodec(.audio(AudioParameters(codec: .opus, sampleRate: 48_000, channels: 1)), payloadType: 111)
        #expect(opus.rtpmap == "opus/48000/2")
    }

    @Test("Base64: the test vectors of RFC 4648 §10")
    func base64() {
        for (plain, text) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64.encode(Array(plain.utf8)) == text)
            #expect(Base64.decode(text) == Array(plain.utf8))
        }
        #expect(Base64.decode("Zg") == Array("f".utf8))
        #expect(Base64.decode("Z") == nil && Base64.decode("Zm 9") == nil && Base64.decode("Zg==Zg") == nil)
    }
}
