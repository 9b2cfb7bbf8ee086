import IoTCore
import NIOCore
import RTP
import Testing

@testable import PeerTransport

@Suite struct NegotiationTests {
    static func h264(_ type: UInt8, mode: String = "1", profile: String = "64001f") -> RTPCodec {
        RTPCodec(
            payloadType: type, encodingName: "H264", clockRate: 90_000,
            formatParameters: ["packetization-mode": mode, "profile-level-id": profile, "sprop-parameter-sets": "Zw=="])
    }

    static let pcmu = RTPCodec(payloadType: 0, encodingName: "PCMU", clockRate: 8000)
    static let pcma = RTPCodec(payloadType: 8, encodingName: "PCMA", clockRate: 8000)

    @Test("A camera's offer is answered by receiving the codecs that we support")
    func receivesOffer() throws {
        let vp8 = RTPCodec(payloadType: 100, encodingName: "VP8", clockRate: 90_000)
        let offered = MediaSection(
            mid: "v", kind: .video, direction: .sendOnly, codecs: [vp8, Self.h264(96)], ssrc: 5, cname: "c")
        let answer = Negotiation.answer(offered, local: nil, ssrc: 1, cname: "me")
        #expect(answer.direction == .receiveOnly)
        #expect(answer.codecs.map(\.payloadType) == [96])
        #expect(answer.codecs[0].formatParameters["sprop-parameter-sets"] == nil)
        #expect(answer.ssrc == nil)
        let agreed = try #require(Negotiation.agree(local: answer, remote: offered, localSSRC: 1))
        #expect(agreed.receivingCodecs == [Self.h264(96)])
        #expect(agreed.sendingCodec == nil)
        #expect(agreed.remoteSSRC == 5)
        // The same agreement from the offerer's point of view.
        let mirrored = try #require(Negotiation.agree(local: offered, remote: answer, localSSRC: 5))
        #expect(mirrored.sendingCodec == Self.h264(96))
        #expect(mirrored.receivingCodecs.isEmpty)
        #expect(mirrored.feedback == Set(MediaSection.Feedback.allCases))
    }

    @Test("An offer to receive is answered by sending, with the offerer's payload type and in mode 1")
    func sendsToOfferer() throws {
        let offered = MediaSection(
            mid: "0", kind: .video, direction: .receiveOnly,
            codecs: [Self.h264(102, mode: "0"), Self.h264(103, profile: "42e01f"), Self.h264(104)])
        let local = MediaSection(mid: "", kind: .video, direction: .sendOnly, codecs: [Self.h264(96)])
        let answer = Negotiation.answer(offered, local: local, ssrc: 77, cname: "me")
        #expect(answer.direction == .sendOnly)
        #expect(answer.codecs == [Self.h264(104)])
        #expect(answer.ssrc == 77)
        let other = MediaSection(
            mid: "", kind: .video, direction: .sendOnly, codecs: [Self.h264(96, profile: "4d001f")])
        // A decoder of High plays Main; a decoder of Constrained Baseline does not.
        #expect(Negotiation.answer(offered, local: other, ssrc: 1, cname: "").codecs.map(\.payloadType) == [104])
    }

    @Test("Two-way audio keeps one direction when the other side only receives")
    func talk() throws {
        let offered = MediaSection(mid: "a", kind: .audio, direction: .sendReceive, codecs: [Self.pcma, Self.pcmu])
        let talker = MediaSection(mid: "", kind: .audio, direction: .sendReceive, codecs: [Self.pcmu])
        let both = Negotiation.answer(offered, local: talker, ssrc: 3, cname: "me")
        #expect(both.direction == .sendReceive)
        let agreed = try #require(Negotiation.agree(local: offered, remote: both, localSSRC: 9))
        #expect(agreed.sendingCodec != nil)
        #expect(agreed.receivingCodecs.contains(Self.pcmu))
        let listener = Negotiation.answer(offered, local: nil, ssrc: 3, cname: "me")
        #expect(listener.direction == .receiveOnly)
        #expect(Negotiation.agree(local: offered, remote: listener, localSSRC: 9)?.receivingCodecs.isEmpty == true)
    }

    @Test("A section without a matching codec is declined")
    func declines() {
        let vp8 = RTPCodec(payloadType: 100, encodingName: "VP8", clockRate: 90_000)
        let offered = MediaSection(mid: "0", kind: .video, direction: .receiveOnly, codecs: [vp8])
        let local = MediaSection(mid: "", kind: .video, direction: .sendOnly, codecs: [Self.h264(96)])
        let answer = Negotiation.answer(offered, local: local, ssrc: 1, cname: "")
        #expect(answer.isRejected)
        #expect(Negotiation.agree(local: answer, remote: offered, localSSRC: 1) == nil)
    }
}
