import Testing

@testable import RTSP

@Suite struct TypedHeaderTests {
    @Test(
        "Session",
        arguments: [
            ("12345678", SessionHeader("12345678"), "12345678"),
            ("12345678;timeout=60", SessionHeader("12345678", timeout: 60), "12345678;timeout=60"),
            ("12345678 ; Timeout = 30;x", SessionHeader("12345678", timeout: 30), "12345678;timeout=30"),
            ("ABC;timeout=0", SessionHeader("ABC"), "ABC"),
            ("ABC;timeout=-5", SessionHeader("ABC"), "ABC"),
            ("ABC;timeout=99999999999999999999", SessionHeader("ABC"), "ABC"),
            ("", nil, ""), (";timeout=60", nil, ""), ("a b", nil, ""),
            (String(repeating: "x", count: 257), nil, ""),
        ] as [(String, SessionHeader?, String)])
    func session(text: String, expected: SessionHeader?, written: String) {
        #expect(SessionHeader(parsing: text) == expected)
        if let expected {
            #expect(expected.text == written)
            #expect(SessionHeader(parsing: written) == expected)
        }
    }

    @Test(
        "Transport",
        arguments: [
            (
                "RTP/AVP/TCP;unicast;interleaved=0-1",
                TransportHeader(.tcp, interleaved: .init(0, 1)), "RTP/AVP/TCP;unicast;interleaved=0-1"
            ),
            (
                "RTP/AVP;unicast;client_port=4588-4589;server_port=6256-6257;ssrc=0CB32B85;mode=\"PLAY\"",
                TransportHeader(
                    .udp, clientPorts: .init(4588, 4589), serverPorts: .init(6256, 6257), ssrc: 0x0CB3_2B85,
                    mode: "PLAY"),
                "RTP/AVP;unicast;client_port=4588-4589;server_port=6256-6257;ssrc=0CB32B85;mode=\"PLAY\""
            ),
            // The order of parameters (scottlamb/retina#120), spaces and case do not matter.
            (
                "rtp/avp/udp; ssrc= 1f ; Unicast ;client_port=5000;mode=play;",
                TransportHeader(.udp, clientPorts: .init(5000, 5001), ssrc: 0x1F, mode: "PLAY"),
                "RTP/AVP;unicast;client_port=5000-5001;ssrc=0000001F;mode=\"PLAY\""
            ),
            (
                "RTP/SAVP/TCP;interleaved=254-255",
                TransportHeader(
                    profile: .savp, .tcp, isMulticast: nil, interleaved: .init(254, 255)),
                "RTP/SAVP/TCP;interleaved=254-255"
            ),
            (
                "RTP/AVP;unicast;ssrc=more than eight digits;ttl=zzz", TransportHeader(.udp),
                "RTP/AVP;unicast"
            ),
        ] as [(String, TransportHeader, String)])
    func transport(text: String, expected: TransportHeader, written: String) {
        #expect(TransportHeader.parse(text) == [expected])
        #expect(expected.text == written)
        #expect(TransportHeader.parse(written) == [expected])
    }

    @Test("Multicast, source and destination are kept")
    func multicast() throws {
        let text = "RTP/AVP;multicast;source=192.0.2.7;destination=224.2.0.1;port=3456-3457;ttl=16"
        let transport = try #require(TransportHeader.parse(text).first)
        #expect(transport.isMulticast == true && transport.source == "192.0.2.7" && transport.ttl == 16)
        #expect(transport.destination == "224.2.0.1" && transport.ports == .init(3456, 3457))
        #expect(transport.text == text)
    }

    @Test("Supported transports of a list keep their order (RFC 2326 §12.39)")
    func transports() {
        let text =
            "RAW/RAW/UDP;unicast, RTP/AVP/TCP;interleaved=0-1,RTP/AVP;client_port=70000-70001,RTP/AVP;unicast;client_port=7-8"
        let expected = [
            TransportHeader(.tcp, isMulticast: nil, interleaved: .init(0, 1)),
            TransportHeader(.udp, clientPorts: .init(7, 8)),
        ]
        #expect(TransportHeader.parse(text) == expected)
        var headers = RTSPHeaders()
        headers.transports = expected
        #expect(headers.transports == expected)
        #expect(TransportHeader.parse("").isEmpty)
        #expect(TransportHeader.parse("RTP/AVP/TCP;interleaved=256-257").isEmpty)
    }

    @Test(
        "RTP-Info",
        arguments: [
            (
                "url=rtsp://foo.com/bar.avi/streamid=0;seq=45102,url=rtsp://foo.com/bar.avi/streamid=1;seq=30211",
                [
                    RTPInfo(url: "rtsp://foo.com/bar.avi/streamid=0", sequenceNumber: 45_102),
                    RTPInfo(url: "rtsp://foo.com/bar.avi/streamid=1", sequenceNumber: 30_211),
                ]
            ),
            (
                "url=trackID=1;seq=1;rtptime=4294967295;ssrc=5, url=a,b;rtptime=-1;",
                [
                    RTPInfo(url: "trackID=1", sequenceNumber: 1, timestamp: .max), RTPInfo(url: "a,b"),
                ]
            ),
            ("seq=5;rtptime=6", [RTPInfo(url: "", sequenceNumber: 5, timestamp: 6)]),
            ("", []),
        ] as [(String, [RTPInfo])])
    func rtpInfo(text: String, expected: [RTPInfo]) {
        #expect(RTPInfo.parse(text) == expected)
        #expect(RTPInfo.parse(RTPInfo.text(expected)) == expected)
    }

    @Test(
        "Range",
        arguments: [
            ("npt=now-", .live, "npt=now-"),
            ("npt=0.000-", .normalPlayTime(start: .time(0), end: nil), "npt=0.000-"),
            ("NPT = 5-7.741", .normalPlayTime(start: .time(5_000), end: .time(7_741)), "npt=5.000-7.741"),
            ("npt=-7", .normalPlayTime(start: nil, end: .time(7_000)), "npt=-7.000"),
            (
                "npt=12:05:35.3-;time=19970123T143720Z", .normalPlayTime(start: .time(43_535_300), end: nil),
                "npt=43535.300-"
            ),
            ("npt=0", .normalPlayTime(start: .time(0), end: nil), "npt=0.000-"),
            ("clock=19961108T142300Z-", .other("clock=19961108T142300Z-"), "clock=19961108T142300Z-"),
            ("npt=soon-", nil, ""), ("npt=1:2-", nil, ""), ("npt=-5.x", nil, ""), ("npt=99999999999-", nil, ""),
            ("", nil, ""),
        ] as [(String, RangeHeader?, String)])
    func range(text: String, expected: RangeHeader?, written: String) {
        #expect(RangeHeader(parsing: text) == expected)
        if let expected {
            #expect(expected.text == written)
            #expect(RangeHeader(parsing: written) == expected)
        }
    }

    @Test("The elements of a list come from all its fields")
    func lists() {
        let headers: RTSPHeaders = [
            "Public": "OPTIONS, describe,,SETUP ", "public": "GET_PARAMETER",
            "Require": "www.onvif.org/ver20/backchannel, x", "Unsupported": "x", "CSeq": "42",
        ]
        #expect(headers.publicMethods == [.options, .describe, .setup, .getParameter])
        #expect(headers.required == [RTSPOption.backChannel, "x"])
        #expect(headers.unsupported == ["x"])
        #expect(headers.cseq == 42)
        #expect(RTSPHeaders().publicMethods == nil)
        #expect((["CSeq": "-1"] as RTSPHeaders).cseq == nil)
    }
}
