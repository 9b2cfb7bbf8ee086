import IoTCore
import NIOCore
import RTP
import TestSupport
import Testing

@testable import PeerTransport

/// Offers of real peers, and our answers.
@Suite struct RealOfferTests {
    private static let opus = RTPCodec(payloadType: 111, encodingName: "opus", clockRate: 48_000, channels: 2)

    private func camera(_ video: RTPCodec, audio: RTPCodec? = opus) throws -> PeerConnection {
        var sections = [MediaSection(mid: "", kind: .video, direction: .sendOnly, codecs: [video], cname: "cam")]
        if let audio {
            sections.append(MediaSection(mid: "", kind: .audio, direction: .sendReceive, codecs: [audio], cname: "cam"))
        }
        return PeerConnection(
            configuration: PeerConfiguration(
                hostAddresses: [try SocketAddress(ipAddress: "192.0.2.1", port: 4000)], isControlling: false,
                sections: sections),
            certificate: try PeerCertificate.generate(), now: .uptimeNanoseconds(0), generator: SeededGenerator(seed: 1)
        )
    }

    private func h264(_ profile: String, mode: String = "1") -> RTPCodec {
        NegotiationTests.h264(96, mode: mode, profile: profile)
    }

    private func lines(_ text: String, section: Int) -> [String] {
        let lines = text.utf8.split(separator: 13).map { String(Substring($0.first == 10 ? $0.dropFirst() : $0)) }
        var index = -1
        return lines.filter { line in
            if line.hasPrefix("m=") { index += 1 }
            return index == section
        }
    }

    @Test("Every real offer is parsed completely", arguments: SDPFixtures.names)
    func read(name: String) throws {
        let offer = try SDPFixtures.offer(name)
        #expect(offer.sections.count == 2)
        #expect(offer.sections.allSatisfy { !$0.isRejected })
        #expect(offer.setup == .either)
        let video = try #require(offer.sections.first { $0.kind == .video })
        let audio = try #require(offer.sections.first { $0.kind == .audio })
        #expect(video.codecs.contains { $0.format == .h264 })
        #expect(audio.codecs.contains { $0.format == .opus })
        let again = try SessionDescription(parsing: offer.text)
        #expect(again.sections == offer.sections)
    }

    @Test("Chromium's sendrecv offer names its streams, repairs and extensions")
    func chromiumSources() throws {
        let offer = try SDPFixtures.offer("chromium-offer-sendrecv")
        let video = try #require(offer.sections.first { $0.kind == .video })
        #expect(video.ssrc == 1_796_950_369 && video.retransmissionSSRC == 4_009_871_390)
        #expect(video.cname == "ehdDjsL7yOe8N/Xa")
        #expect(
            video.mediaStreamID == "c3500981-0553-4f84-a221-22f090b1c171 ec3b3bac-d2f4-4202-bcc6-4858292f3093")
        #expect(
            video.feedback == [
                .nack, .pictureLossIndication, .fullIntraRequest, .receiverEstimatedMaximumBitrate, .transportWide,
            ])
        let identifiers = HeaderExtensionIdentifiers(video.headerExtensions)
        #expect(identifiers.mid == 4 && identifiers.absoluteSendTime == 2)
        #expect(identifiers.transportSequenceNumber == 3 && identifiers.playoutDelay == 5)
        #expect(video.codecs.retransmission(of: 108)?.payloadType == 109)
        let audio = try #require(offer.sections.first { $0.kind == .audio })
        #expect(audio.feedback == [.transportWide] && audio.retransmissionSSRC == nil)
    }

    @Test("A WHEP viewer's offer is answered with one H.264 codec, its repairs, and Opus")
    func whep() throws {
        let offer = try SDPFixtures.offer("chromium-offer-recvonly")
        let camera = try camera(h264("42c028"))
        let answer = try camera.createAnswer(to: offer)
        let text = answer.text
        let video = lines(text, section: 0)
        #expect(video.first == "m=video 9 UDP/TLS/RTP/SAVPF 108 109")
        for line in [
            "a=mid:0", "a=sendonly", "a=setup:passive", "a=rtcp-mux", "a=rtcp-rsize", "a=rtpmap:108 H264/90000",
            "a=rtpmap:109 rtx/90000", "a=fmtp:109 apt=108", "a=rtcp-fb:108 nack", "a=rtcp-fb:108 nack pli",
            "a=rtcp-fb:108 ccm fir", "a=rtcp-fb:108 goog-remb", "a=rtcp-fb:108 transport-cc",
            "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
            "a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
            "a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay",
            "a=extmap:9 urn:ietf:params:rtp-hdrext:sdes:mid",
            // The browser's profile, our level.
            "a=fmtp:108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e028;"
                + "sprop-parameter-sets=Zw==",
        ] {
            #expect(video.contains(line), "\(line)")
        }
        #expect(video.contains { $0.hasPrefix("a=extmap:") && $0.hasSuffix(" urn:3gpp:video-orientation") })
        #expect(video.count { $0.hasPrefix("a=extmap") } == 5)
        #expect(video.contains { $0.hasPrefix("a=ssrc-group:FID ") })
        let audio = lines(text, section: 1)
        #expect(audio.first == "m=audio 9 UDP/TLS/RTP/SAVPF 111")
        #expect(audio.contains("a=sendonly") && audio.contains("a=rtpmap:111 opus/48000/2"))
        #expect(audio.contains("a=rtcp-fb:111 transport-cc") && !audio.contains("a=rtcp-fb:111 nack"))
        #expect(camera.sendingCodec(mid: "0")?.payloadType == 108)
        #expect(camera.sendingCodec(mid: "1")?.format == .opus)
        #expect(camera.tracks[0].section.sendingRetransmissionType == 109)
    }

    @Test(
        "RFC 6184 §8.2.2: the stream's own profile if it is offered, otherwise a profile with a decoder that plays it",
        arguments: [
            ("42e01f", UInt8(108), "42e01f"), ("42001f", 102, "42001f"), ("4d4029", 116, "4d0029"),
            // Chromium does not offer High; a decoder of High 4:4:4 Predictive plays it (H.264 §A.2.7).
            ("640028", 41, "f40028"),
        ])
    func profiles(profile: String, type: UInt8, answered: String) throws {
        let offer = try SDPFixtures.offer("chromium-offer-recvonly")
        let answer = try camera(h264(profile)).createAnswer(to: offer)
        #expect(answer.sections[0].codecs[0].payloadType == type)
        #expect(answer.sections[0].codecs[0].formatParameters["profile-level-id"] == answered)
        #expect(answer.sections[0].codecs[0].formatParameters["packetization-mode"] == "1")
    }

    @Test("A stream of single NAL units uses an entry of mode 0")
    func mode0() throws {
        let offer = try SDPFixtures.offer("chromium-offer-recvonly")
        let answer = try camera(h264("42e01f", mode: "0")).createAnswer(to: offer)
        #expect(answer.sections[0].codecs[0].payloadType == 114)
        #expect(answer.sections[0].codecs[0].formatParameters["packetization-mode"] == "0")
    }

    @Test("A codec that the browser lacks is declined in its section, and the other sections continue")
    func lacking() throws {
        let offer = try SDPFixtures.offer("chromium-offer-recvonly")
        let h265 = RTPCodec(payloadType: 97, encodingName: "H265", clockRate: 90_000)
        let answer = try camera(h265).createAnswer(to: offer)
        #expect(answer.sections.map(\.isRejected) == [true, false])
        #expect(answer.text.contains("a=group:BUNDLE 1\r\n"))
        #expect(lines(answer.text, section: 0).first == "m=video 0 UDP/TLS/RTP/SAVPF 96")
        #expect(throws: IoTError.self) { _ = try camera(h265, audio: nil).createAnswer(to: offer) }
    }

    @Test("A browser that sends is received in H.264 and Opus", arguments: SDPFixtures.names.dropFirst())
    func receives(name: String) throws {
        let offer = try SDPFixtures.offer(name)
        let connection = PeerConnection(
            configuration: PeerConfiguration(
                hostAddresses: [try SocketAddress(ipAddress: "192.0.2.1", port: 4000)], isControlling: false),
            certificate: try PeerCertificate.generate(), now: .uptimeNanoseconds(0), generator: SeededGenerator(seed: 1)
        )
        let answer = try connection.createAnswer(to: offer)
        for section in answer.sections {
            #expect(section.direction == .receiveOnly && !section.isRejected)
            #expect(!connection.receivingCodecs(mid: section.mid).isEmpty)
        }
        #expect(answer.entries.count == offer.entries.count)
        let video = try #require(connection.tracks.first { $0.section.kind == .video })
        #expect(video.section.receivingRetransmissionTypes.isEmpty == (name == "gstreamer-offer-sendrecv"))
    }

    @Test("The offer's DTLS role is respected", arguments: [("active", "passive"), ("passive", "active")])
    func setup(roles: (String, String)) throws {
        let text = try SDPFixtures.text("chromium-offer-recvonly")
            .replacing("a=setup:actpass", with: "a=setup:\(roles.0)")
        let answer = try camera(h264("42e01f")).createAnswer(to: SessionDescription(parsing: text))
        #expect(answer.text.contains("a=setup:\(roles.1)\r\n"))
    }

    @Test(
        "Corrupted real offers are an error or are answered, and a written description is parsed back",
        arguments: SDPFixtures.names, 0..<8)
    func mutilated(name: String, seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let lines = try SDPFixtures.text(name).utf8.split(separator: 13).map { Array($0.drop { $0 == 10 }) }
        let certificate = try PeerCertificate.generate()
        for _ in 0..<60 {
            var copy = lines
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let index = Int.random(in: 0..<copy.count, using: &generator)
                let length = copy[index].count
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: copy.remove(at: index)
                case 1: copy.insert(copy[index], at: Int.random(in: 0...copy.count, using: &generator))
                case 2: copy[index].removeLast(Int.random(in: 0...length, using: &generator))
                case 3: copy.swapAt(index, Int.random(in: 0..<copy.count, using: &generator))
                case 4:
                    // Numbers at and beyond their limits.
                    let numbers = ["0", "15", "128", "255", "256", "65536", "4294967296", "-1", "99999999999999999999"]
                    let words = copy[index].split(separator: 32, omittingEmptySubsequences: false)
                    let place = Int.random(in: 0..<words.count, using: &generator)
                    var changed = words.map(Array.init)
                    changed[place] = Array((numbers.randomElement(using: &generator) ?? "").utf8)
                    copy[index] = Array(changed.joined(separator: [32]))
                default:
                    if length > 0 {
                        copy[index][Int.random(in: 0..<length, using: &generator)] =
                            UInt8.random(in: 0...255, using: &generator)
                    }
                }
                if copy.isEmpty { break }
            }
            let text = String(decoding: Array(copy.joined(separator: [13, 10])), as: UTF8.self)
            guard let read = try? SessionDescription(parsing: text) else { continue }
            let again = try SessionDescription(parsing: read.text)
            #expect(again.sections.map(\.mid) == read.sections.map(\.mid))
            for (first, second) in zip(read.sections, again.sections) where !first.isRejected {
                #expect(first.codecs == second.codecs && first.direction == second.direction)
                #expect(first.headerExtensions == second.headerExtensions)
            }
            // The second text has the normal form.
            #expect(try SessionDescription(parsing: again.text).entries == again.entries)
            let connection = PeerConnection(
                configuration: PeerConfiguration(
                    hostAddresses: [], isControlling: false,
                    sections: [
                        MediaSection(mid: "", kind: .video, direction: .sendReceive, codecs: [h264("42e01f")]),
                        MediaSection(mid: "", kind: .audio, direction: .sendReceive, codecs: [Self.opus]),
                    ]),
                certificate: certificate, now: .uptimeNanoseconds(0), generator: generator)
            guard let answer = try? connection.createAnswer(to: read) else { continue }
            #expect(try SessionDescription(parsing: answer.text).sections.count == read.sections.count)
        }
    }
}
