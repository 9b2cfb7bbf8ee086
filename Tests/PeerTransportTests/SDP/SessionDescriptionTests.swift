import IoTCore
import NIOCore
import RTP
import TestSupport
import Testing

@testable import PeerTransport

@Suite struct SessionDescriptionTests {
    static let fingerprint =
        "sha-256 6B:8B:F0:65:5F:78:E2:51:3B:AC:6F:F3:3F:46:1B:35:DC:B8:5F:64:1A:24:C2:43:F0:A1:58:D0:A1:2C:19:08"

    static func offer() throws -> SessionDescription {
        let video = MediaSection(
            mid: "0", kind: .video, direction: .sendOnly,
            codecs: [
                RTPCodec(
                    payloadType: 96, encodingName: "H264", clockRate: 90_000,
                    formatParameters: [
                        "packetization-mode": "1", "profile-level-id": "640028",
                        "sprop-parameter-sets": "Z2QAKA==,aO48",
                    ])
            ], ssrc: 1234, cname: "cam")
        let audio = MediaSection(
            mid: "1", kind: .audio, direction: .sendReceive,
            codecs: [RTPCodec(payloadType: 8, encodingName: "PCMA", clockRate: 8000)], ssrc: 99, cname: "cam")
        var description = SessionDescription(
            sessionID: 7, entries: [.media(video), .media(audio)],
            credentials: ICECredentials(ufrag: "abcd", password: "0123456789abcdefghijkl"),
            fingerprints: [try #require(try CertificateFingerprint(parsing: fingerprint))], setup: .either)
        description.candidates = [
            ICECandidate(
                foundation: "1", priority: 1, address: try SocketAddress(ipAddress: "192.0.2.1", port: 5), kind: .host)
        ]
        description.hasEndOfCandidates = true
        return description
    }

    @Test("A written description is parsed back")
    func roundTrip() throws {
        let offer = try Self.offer()
        var read = try SessionDescription(parsing: offer.text)
        read.sessionVersion = offer.sessionVersion
        #expect(read == offer)
        #expect(read.sections[0].feedback == Set(MediaSection.Feedback.allCases))
        #expect(read.text == offer.text)
    }

    @Test("The text conforms to RFC 8866 and RFC 8829")
    func text() throws {
        let lines = try Self.offer().text.components(separatedByCRLF: ())
        #expect(lines.prefix(4) == ["v=0", "o=- 7 1 IN IP4 127.0.0.1", "s=-", "t=0 0"])
        for line in [
            "a=group:BUNDLE 0 1", "a=ice-options:trickle", "a=fingerprint:" + Self.fingerprint,
            "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=setup:actpass", "a=mid:0", "a=sendonly", "a=rtcp-mux", "a=rtcp-rsize",
            "a=rtpmap:96 H264/90000", "a=rtcp-fb:96 nack", "a=rtcp-fb:96 nack pli", "a=rtcp-fb:96 ccm fir",
            "a=ssrc:1234 cname:cam", "m=audio 9 UDP/TLS/RTP/SAVPF 8", "a=ice-ufrag:abcd",
            "a=candidate:1 1 udp 1 192.0.2.1 5 typ host", "a=end-of-candidates",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(lines.filter { $0.hasPrefix("a=candidate") }.count == 1)
        #expect(lines.last == "")
    }

    /// Chromium's form of an offer to receive video, audio and data, shortened.
    static let browserOffer = """
        v=0
        o=- 4962303333179871722 2 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0 1 2
        a=extmap-allow-mixed
        a=msid-semantic: WMS
        m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=candidate:1 1 udp 2113937151 1f0e.local 51000 typ host generation 0 network-cost 999
        a=candidate:2 1 udp 2113937150 192.0.2.77 51001 typ host generation 0
        a=ice-ufrag:F7gI
        a=ice-pwd:x9cml/YzichV2+XlhiMu8g
        a=ice-options:trickle
        a=fingerprint:\(fingerprint)
        a=setup:actpass
        a=mid:0
        a=extmap:1 urn:ietf:params:rtp-hdrext:toffset
        a=recvonly
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:96 VP8/90000
        a=rtcp-fb:96 goog-remb
        a=rtcp-fb:96 nack
        a=rtpmap:97 rtx/90000
        a=fmtp:97 apt=96
        a=rtpmap:102 H264/90000
        a=rtcp-fb:102 ccm fir
        a=rtcp-fb:102 nack
        a=rtcp-fb:102 nack pli
        a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42001f
        a=rtpmap:103 H264/90000
        a=fmtp:103 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640032
        m=audio 9 UDP/TLS/RTP/SAVPF 111 0
        c=IN IP4 0.0.0.0
        a=ice-ufrag:F7gI
        a=ice-pwd:x9cml/YzichV2+XlhiMu8g
        a=fingerprint:\(fingerprint)
        a=setup:actpass
        a=mid:1
        a=sendrecv
        a=msid:- 5a0e
        a=rtcp-mux
        a=rtpmap:111 opus/48000/2
        a=fmtp:111 minptime=10;useinbandfec=1
        a=ssrc:3570614608 cname:4TOk42mSjXCkVIa6
        m=application 9 UDP/DTLS/SCTP webrtc-datachannel
        c=IN IP4 0.0.0.0
        a=mid:2
        a=sctp-port:5000
        """

    @Test("A browser's offer is parsed: codecs, feedback, candidates, and an unsupported section")
    func readsBrowserOffer() throws {
        let offer = try SessionDescription(parsing: Self.browserOffer.replacing("\n", with: "\r\n"))
        #expect(offer.entries.count == 3)
        let video = try #require(offer.sections.first)
        #expect(video.codecs.map(\.payloadType) == [96, 97, 102, 103])
        #expect(video.direction == .receiveOnly)
        #expect(
            video.feedback == [
                .nack, .pictureLossIndication, .fullIntraRequest, .receiverEstimatedMaximumBitrate,
            ])
        #expect(offer.sections[1].ssrc == 3_570_614_608)
        #expect(offer.sections[1].codecs.map(\.encodingName) == ["opus", "PCMU"])
        #expect(!offer.sections[1].allowsReducedSizeRTCP)
        #expect(
            offer.candidateTexts == [
                "candidate:1 1 udp 2113937151 1f0e.local 51000 typ host",
                "candidate:2 1 udp 2113937150 192.0.2.77 51001 typ host",
            ])
        #expect(offer.iceUfrag == "F7gI")
        #expect(offer.setup == .either)
    }

    @Test("A malformed candidate or SSRC does not affect other lines")
    func ignoresWhatCannotBeRead() throws {
        let bad = [
            "a=candidate:1 1 udp 2113937151 192.0.2.1", "a=candidate:", "a=candidate:1 x udp 1 192.0.2.1 5 typ host",
            "a=candidate:1 1 udp 1 192.0.2.1 99999 typ host", "a=candidate:é 1 udp 1 192.0.2.1 5 typ host",
            "a=candidate:" + String(repeating: "1", count: 2_000), "a=ssrc:none cname:x",
        ]
        let right = "a=candidate:2 1 udp 2113937150"
        let text = Self.browserOffer.replacing(right, with: bad.joined(separator: "\n") + "\n" + right)
        let offer = try SessionDescription(parsing: text)
        #expect(offer.candidates.count == 2)
        // The candidate that is not ASCII is ignored with its line.
        #expect(offer.malformedCandidates == 5)
    }

    @Test("An m= section outside the bundle, or without rtcp-mux, is not used")
    func outsideTheBundle() throws {
        let text = Self.browserOffer
        let smaller = try SessionDescription(parsing: text.replacing("BUNDLE 0 1 2", with: "BUNDLE 0 2"))
        #expect(smaller.sections.map(\.isRejected) == [false, true])
        let plain = try SessionDescription(
            parsing: text.replacing("a=recvonly\na=rtcp-mux", with: "a=recvonly"))
        #expect(plain.sections.map(\.isRejected) == [true, false])
    }

    static let damages: [(String, String)] = [
        ("v=0", "v=1"), ("v=0\n", ""), ("a=ice-ufrag:F7gI\n", ""), ("a=ice-pwd:x9cml/YzichV2+XlhiMu8g", "a=ice-pwd:x"),
        ("a=fingerprint:sha-256", "a=fingerprint:sha-1"), ("6B:8B", "6B8B"), ("6B:8B", "6B:ZZ"),
        ("a=setup:actpass", "a=setup:holdconn"), ("a=mid:1", "a=mid:0"), ("a=mid:1", "a=mid:a b"),
        ("m=video 9", "m=video x"), ("m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103", "m=video 9"),
        ("s=-", "session"),
        ("s=-", "s=\u{1}"), ("a=rtcp-mux\n", ""), ("a=group:BUNDLE 0 1 2", "a=group:BUNDLE"),
    ]

    @Test("Every kind of malformed description is an error with its code", arguments: damages)
    func damaged(damage: (String, String)) {
        let text = Self.browserOffer.replacing(damage.0, with: damage.1)
        #expect(text != Self.browserOffer)
        #expect { try SessionDescription(parsing: text) } throws: { error in
            (error as? IoTError)?.code == .sessionDescriptionInvalid
        }
    }

    @Test("Descriptions that are too large, empty, or have too many sections are refused")
    func bounds() {
        let section = "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=rtcp-mux\n"
        let texts = [
            "", "\r\n\r\n", "v=0\n", Self.browserOffer + String(repeating: "a=x\n", count: 17_000),
            Self.browserOffer + "\n" + String(repeating: section, count: 40),
        ]
        for text in texts {
            #expect(throws: IoTError.self) { try SessionDescription(parsing: text) }
        }
    }

    @Test("Corrupted descriptions never trap, and a parsed one can be written and parsed again", arguments: 0..<40)
    func mutilated(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let lines = Self.browserOffer.split(separator: "\n").map(String.init)
        for _ in 0..<50 {
            var copy = lines
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<copy.count, using: &generator)
                var bytes = Array(copy[index].utf8)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: copy.remove(at: index)
                case 1: copy.insert(copy[index], at: Int.random(in: 0...copy.count, using: &generator))
                case 2:
                    bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
                    copy[index] = String(decoding: bytes, as: UTF8.self)
                default:
                    if !bytes.isEmpty {
                        let place = Int.random(in: 0..<bytes.count, using: &generator)
                        bytes[place] = UInt8.random(in: 0...255, using: &generator)
                    }
                    copy[index] = String(decoding: bytes, as: UTF8.self)
                }
                if copy.isEmpty { break }
            }
            if let read = try? SessionDescription(parsing: copy.joined(separator: "\n")) {
                let again = try SessionDescription(parsing: read.text)
                #expect(again.sections.count == read.sections.count)
            }
        }
    }
}

extension String {
    fileprivate func components(separatedByCRLF: ()) -> [String] {
        utf8.split(separator: 13, omittingEmptySubsequences: false).map { part in
            String(Substring(part.first == 10 ? part.dropFirst() : part))
        }
    }
}
