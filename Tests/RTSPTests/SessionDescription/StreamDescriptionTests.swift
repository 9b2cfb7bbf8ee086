import IoTCore
import RTP
import Testing

@testable import RTSP

@Suite struct StreamDescriptionTests {
    private func description(_ lines: String...) throws -> StreamDescription {
        try StreamDescription(parsing: lines.joined(separator: "\r\n"))
    }

    @Test("A camera's description (TP-Link, after Ullaakut/cameradar#199)")
    func camera() throws {
        let stream = try description(
            "v=0", "o=NetworkCameraOnvif 2208992188 969705160 IN IP4 0.0.0.0", "s=MediaSession", "t=0 0",
            "a=control:*", "a=range:npt=0-", "a=tool:LIVE555 Streaming Media v2016.11.28", "c=IN IP4 0.0.0.0",
            "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000 ", "a=control:trackID=video", "a=framerate:10",
            "a=fmtp:96 profile-level-id=4d001f;packetization-mode=1;sprop-parameter-sets=Z00AH9oBQBbs,aO48gA==",
            "m=audio 0 RTP/AVP 0", "a=control:trackID=audio", "a=recvonly",
            "m=application 0 RTP/AVP 107", "a=rtpmap:107 vnd.onvif.metadata/90000")
        #expect(stream.name == "MediaSession" && stream.control == "*" && stream.tool?.hasPrefix("LIVE555") == true)
        #expect(stream.range == .normalPlayTime(start: .time(0), end: nil))
        #expect(stream.tracks.map(\.medium) == ["video", "audio", "application"])
        #expect(stream.tracks.map(\.codec?.format) == [.h264, .pcmu, nil])
        #expect(stream.tracks.map(\.control) == ["trackID=video", "trackID=audio", nil])
        #expect(stream.tracks[0].frameRate == 10 && stream.tracks[1].direction == .receiveOnly)
        #expect(stream.tracks.map(\.kind) == [.video, .audio, nil])
        #expect(stream.tracks[2].name == "application vnd.onvif.metadata")
    }

    @Test(
        "Codecs are parsed in the forms that cameras write",
        arguments: [
            // No fmtp.
            (["m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000"], .h264, 96, 90_000),
            // An fmtp of the payload type alone (Ubiquiti; scottlamb/retina v0.4.4).
            (["m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=fmtp:96"], .h264, 96, 90_000),
            // A wrong clock rate.
            (["m=video 0 RTP/AVP 97", "a=rtpmap:97 H265/8000"], .h265, 97, 90_000),
            (["m=audio 0 RTP/AVP 111", "a=rtpmap:111 opus/16000/1"], .opus, 111, 48_000),
            // No map, or a map of an unlisted type.
            (["m=video 0 RTP/AVP 96", "a=fmtp:96 sprop-parameter-sets=Z00AH9oBQBbs,aO48gA=="], .h264, 96, 90_000),
            (["m=video 0 RTP/AVP 96", "a=fmtp:96 sprop-vps=QAE=;sprop-sps=QgE="], .h265, 96, 90_000),
            (["m=video 0 RTP/AVP smart/1/90000", "a=rtpmap:96 H264/90000"], .h264, 96, 90_000),
            // An invalid port.
            (["m=video -1 RTP/AVP 96", "a=rtpmap:96 H264/90000"], .h264, 96, 90_000),
            (["m=audio 0 RTP/AVP 8"], .pcma, 8, 8_000),
            (["m=audio 0 RTP/AVP 97", "a=rtpmap:97 PCMA/8000/1"], .pcma, 97, 8_000),
            // Some or all parameters of RFC 3640 are absent.
            (
                [
                    "m=audio 0 RTP/AVP 97", "a=rtpmap:97 MPEG4-GENERIC/16000/1",
                    "a=fmtp:97 streamtype=5; config=1408; SizeLength=13",
                ], .aac, 97, 16_000
            ),
            (["m=audio 0 RTP/AVP 97", "a=rtpmap:97 mpeg4-generic/48000/2"], .aac, 97, 48_000),
            // Only the second format is supported.
            (
                ["m=audio 0 RTP/AVP 98 0", "a=rtpmap:98 G726-32/8000", "a=rtpmap:0 PCMU/8000"], .pcmu, 0, 8_000
            ),
        ] as [([String], RTPCodec.Format, UInt8, Int)])
    func codecs(section: [String], format: RTPCodec.Format, type: UInt8, rate: Int) throws {
        let stream = try StreamDescription(parsing: (["v=0"] + section).joined(separator: "\r\n"))
        let codec = try #require(stream.tracks.first?.codec)
        #expect(codec.format == format && codec.payloadType == type && codec.clockRate == rate)
        #expect(codec.trackParameters != nil)
    }

    @Test(
        "MPEG audio is supported by its static type and by a map; its parameters are in its frames",
        arguments: [
            (["m=audio 0 RTP/AVP 14"], 14), (["m=audio 0 RTP/AVP 14", "a=rtpmap:14 MPA/90000/1"], 14),
            (["m=audio 0 RTP/AVP 96", "a=rtpmap:96 mpa/90000"], 96),
        ] as [([String], UInt8)])
    func mpegAudio(section: [String], type: UInt8) throws {
        let stream = try StreamDescription(parsing: (["v=0"] + section).joined(separator: "\r\n"))
        let codec = try #require(stream.tracks.first?.codec)
        #expect(codec.format == .mpegAudio && codec.payloadType == type && codec.trackParameters == nil)
    }

    @Test("A missing AAC configuration is derived from the map")
    func configuration() throws {
        let stream = try description("v=0", "m=audio 0 RTP/AVP 97", "a=rtpmap:97 mpeg4-generic/16000/1")
        guard case .audio(let audio) = stream.tracks[0].codec?.trackParameters else { throw Missing() }
        #expect(audio.audioSpecificConfig == [0x14, 0x08] && audio.sampleRate == 16_000 && audio.channels == 1)
    }

    private struct Missing: Error {}

    @Test("Start codes are removed from parameter sets (scottlamb/retina v0.4.11)")
    func startCodes() throws {
        let annexB = Base64.encode([0, 0, 0, 1, 0x67, 0x4D, 0, 0x1F, 0, 0, 0, 1, 0x68, 0xEE])
        let stream = try description(
            "v=0", "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=fmtp:96 sprop-parameter-sets=\(annexB)")
        guard case .video(let video) = stream.tracks[0].codec?.trackParameters else { throw Missing() }
        #expect(video.parameterSets == [[0x67, 0x4D, 0, 0x1F], [0x68, 0xEE]])
    }

    @Test("Invalid lines are ignored, and the others are used")
    func damaged() throws {
        let stream = try description(
            "no version", "v=0", "s=K\u{FC}che", "nonsense", "m=", "a=control:lost", "m=video 0 RTP/AVP",
            "a=control:odd", " m=audio", "m=audio 0 RTP/AVP 0", "a=rtpmap", "a=", "a=control:", "a=framerate:fast")
        #expect(stream.tracks.map(\.control) == ["odd", nil])
        #expect(stream.tracks.map(\.codec?.format) == [nil, .pcmu])
        for text in ["", "v=0\r\ns=x\r\n", "<html></html>", String(repeating: "a", count: 70_000)] {
            #expect(throws: IoTError.self) { try StreamDescription(parsing: text) }
        }
    }

    @Test("The number of sections is limited")
    func many() throws {
        let sections = (0..<40).map { "m=audio 0 RTP/AVP 0\r\na=control:\($0)" }.joined(separator: "\r\n")
        let stream = try description("v=0", sections)
        #expect(stream.tracks.map(\.control) == (0..<16).map { "\($0)" })
    }

    @Test(
        "A back channel is the section that the camera receives, whoever's directions the description has",
        arguments: [
            // ONVIF Streaming §5.3.2
            ("video=recvonly audio=recvonly audio=sendonly", [2]),
            ("audio=sendonly", [0]),
            ("video=recvonly audio=recvonly", []), ("video= audio=", []), ("video=recvonly application=sendonly", []),
            ("video=recvonly audio=sendonly audio=sendonly", [1, 2]),
            // The camera's own directions (RFC 8866 §6.7)
            ("video=sendonly audio=sendonly audio=recvonly", [2]),
            ("video=sendonly audio=sendonly", []),
        ])
    func backChannel(sections: String, expected: [Int]) throws {
        let lines = sections.split(separator: " ").enumerated().flatMap { index, section in
            let parts = section.split(separator: "=", omittingEmptySubsequences: false)
            return ["m=\(parts[0]) 0 RTP/AVP 0", "a=control:\(index)"] + (parts[1].isEmpty ? [] : ["a=\(parts[1])"])
        }
        let stream = try StreamDescription(parsing: (["v=0"] + lines).joined(separator: "\r\n"))
        #expect(stream.backChannels.map(\.control) == expected.map { "\($0)" })
    }

    @Test("An encrypted section is not a back channel, and all codecs of a section are kept")
    func backChannelCodecs() throws {
        let stream = try description(
            "v=0", "m=audio 0 RTP/AVP 97 0 8", "a=rtpmap:97 opus/48000/2", "a=sendonly", "m=audio 0 RTP/SAVP 0",
            "a=sendonly")
        #expect(stream.backChannels.map { $0.codecs.map(\.payloadType) } == [[97, 0, 8]])
        #expect(stream.tracks.map(\.isPlainRTP) == [true, false])
    }

    @Test("A written description parses to the same value")
    func written() throws {
        let stream = StreamDescription(
            name: "front", control: "*", range: .live, tool: "iotvideod",
            tracks: [
                TrackDescription(
                    medium: "video",
                    codec: RTPCodec(
                        .video(VideoParameters(codec: .h264, parameterSets: [[0x67, 0x4D, 0, 0x1F]])), payloadType: 96),
                    control: "trackID=0", frameRate: 25),
                TrackDescription(
                    medium: "audio",
                    codec: RTPCodec(
                        .audio(AudioParameters(codec: .pcma, sampleRate: 8_000, channels: 1)), payloadType: 8),
                    control: "trackID=1", direction: .sendOnly),
            ])
        let address = try #require(IPAddress("2001:db8::7"))
        let text = stream.text(address: address, sessionID: 7)
        #expect(try StreamDescription(parsing: text) == stream)
        #expect(text.hasPrefix("v=0\r\no=- 7 1 IN IP6 2001:db8::7\r\ns=front\r\n"))
    }

    @Test(
        "A track's URL is resolved in all forms",
        arguments: [
            ("rtsp://h/s", nil, "rtsp://h/s"), ("rtsp://h/s", "*", "rtsp://h/s"), ("rtsp://h/s", "", "rtsp://h/s"),
            ("rtsp://h/s", "trackID=1", "rtsp://h/s/trackID=1"), ("rtsp://h/s/", "trackID=1", "rtsp://h/s/trackID=1"),
            ("rtsp://h/s?a=b", "trackID=1", "rtsp://h/s?a=b/trackID=1"),
            ("rtsp://h/s", "/trackID=1", "rtsp://h/s/trackID=1"), ("rtsp://h/s/", "/trackID=1", "rtsp://h/s/trackID=1"),
            ("rtsp://h/s", "?track=1", "rtsp://h/s?track=1"),
            ("rtsp://h/s", "rtsp://h/s/trackID=1", "rtsp://h/s/trackID=1"),
            // A camera behind NAT names an address of its own network.
            ("rtsp://h:8554/s", "rtsp://10.0.0.5/s/trackID=1", "rtsp://h:8554/s/trackID=1"),
            ("rtsp://h/s", "RTSP://u:p@h:554/s/1", "rtsp://h/s/1"),
            ("rtsp://h/s", "rtsp://10.0.0.5", "rtsp://h"),
            ("rtsp://h/s", "track 1", "rtsp://h/s"),
        ] as [(String, String?, String)])
    func controls(base: String, control: String?, expected: String) {
        #expect(ControlURL.resolve(control, base: base) == expected)
    }

    @Test(
        "The base of relative URLs",
        arguments: [
            ([:], "rtsp://h/s"),
            (["Content-Base": "rtsp://h/s/"], "rtsp://h/s/"),
            (["Content-Location": "rtsp://h/other"], "rtsp://h/other"),
            (["Content-Base": "rtsp://h/a/", "Content-Location": "rtsp://h/b"], "rtsp://h/a/"),
            (["Content-Base": "192.0.2.9:554/stream0/"], "rtsp://h/stream0/"),
            (["Content-Base": "rtsp://192.0.2.9:554/s/"], "rtsp://h/s/"),
            (["Content-Base": "http://h/s/"], "rtsp://h/s"), (["Content-Base": "/s/"], "rtsp://h/s"),
            (["Content-Base": ""], "rtsp://h/s"),
        ] as [(RTSPHeaders, String)])
    func bases(headers: RTSPHeaders, expected: String) {
        #expect(ControlURL.base(of: headers, requested: "rtsp://h/s") == expected)
    }
}
