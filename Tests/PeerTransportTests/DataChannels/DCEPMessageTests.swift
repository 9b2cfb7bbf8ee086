import NIOCore
import RTPTestSupport
import Testing

@testable import PeerTransport

@Suite struct DCEPMessageTests {
    @Test("OPEN and ACK have the bytes of RFC 8832 §5 and are parsed back")
    func encoding() {
        let cases: [(DCEPMessage, String)] = [
            (.acknowledgement, "02"),
            (.open(.init(label: "", subprotocol: "")), "03 00 0100 00000000 0000 0000"),
            (.open(.init(label: "chat", subprotocol: "x")), "03 00 0100 00000000 0004 0001 63686174 78"),
            (
                .open(.init(label: "a", subprotocol: "", isOrdered: false, reliability: .maxRetransmits(3))),
                "03 81 0100 00000003 0001 0000 61"
            ),
            (
                .open(
                    .init(label: "é", subprotocol: "", reliability: .maxPacketLifeTime(.milliseconds(500)), priority: 9)
                ),
                "03 02 0009 000001f4 0002 0000 c3a9"
            ),
        ]
        for (message, hex) in cases {
            #expect(message.write() == ByteBuffer(hex: hex))
            #expect(DCEPMessage(parsing: ByteBuffer(hex: hex)) == message)
        }
    }

    @Test("Malformed, unknown and overlong messages are refused")
    func refuses() {
        for hex in [
            "", "00", "01", "04", "03", "03 00 0100 00000000 0004 0000 636861", "03 03 0100 00000000 0000 0000",
        ] {
            #expect(DCEPMessage(parsing: ByteBuffer(hex: hex)) == nil)
        }
        let long = DCEPMessage.open(.init(label: String(repeating: "a", count: 1025), subprotocol: ""))
        #expect(DCEPMessage(parsing: long.write()) == nil)
    }

    @Test("Empty messages are one zero byte of their own kind; deprecated kinds are refused (RFC 8831 §6.6, §8)")
    func payloads() {
        for (message, kind) in [
            (DataChannelMessage.text("hé"), 51), (.binary(ByteBuffer(bytes: [0, 1])), 53), (.text(""), 56),
            (.binary(ByteBuffer()), 57),
        ] as [(DataChannelMessage, UInt32)] {
            let (payloadProtocol, bytes) = DataChannelPayload.encode(message)
            #expect(payloadProtocol == kind && bytes.readableBytes > 0)
            #expect(DataChannelPayload.decode(payloadProtocol, bytes) == message)
        }
        for kind in [0, 50, 52, 54, 58, 99] as [UInt32] {
            #expect(DataChannelPayload.decode(kind, ByteBuffer(bytes: [1])) == nil)
        }
        #expect(DataChannelPayload.decode(51, ByteBuffer(bytes: [0xFF])) == .text("\u{FFFD}"))
    }
}
