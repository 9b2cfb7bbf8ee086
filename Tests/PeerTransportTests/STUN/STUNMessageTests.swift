import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

@Suite struct STUNMessageTests {
    /// RFC 5769 §2.1.
    static let request = """
        000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74 \
        002400046e0001ff80290008932ff9b151263b36000600096576746a3a68367659202020 \
        000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf
        """
    /// RFC 5769 §2.2.
    static let responseIPv4 = """
        0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220 \
        002000080001a147e112a643000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96
        """
    /// RFC 5769 §2.3.
    static let responseIPv6 = """
        010100482112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220 \
        002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9 \
        00080014a382954e4be67bf11784c97c8292c275bfe3ed4180280004c8fb0b4c
        """
    /// RFC 5769 §2.4.
    static let longTermRequest = """
        000100602112a44278ad3433c6ad72c029da412e00060012e3839ee38388e383aae38383e382afe382b90000 \
        0015001c662f2f3439396b39353464364f4c33346f4c39465354767936347341 \
        0014000b6578616d706c652e6f7267 0000080014f67024656dd64a3e02b8e0712e85c9a28ca89666
        """
    static let password = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)

    static func bytes(_ hex: String) throws -> ByteBuffer {
        ByteBuffer(bytes: try #require(Hex.decode(hex.filter { !$0.isWhitespace })))
    }

    @Test("The sample request of RFC 5769 §2.1 is parsed, and its hash and fingerprint are correct")
    func sampleRequest() throws {
        let message = try STUNMessage(parsing: Self.bytes(Self.request))
        #expect(message.messageClass == .request)
        #expect(message.method == STUNMessage.bindingMethod)
        #expect(message.transactionID == STUNTransactionID(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE))
        #expect(message.attributes.contains(.software("STUN test client")))
        #expect(message.priority == 0x6E00_01FF)
        #expect(message.controlledTieBreaker == 0x932F_F9B1_5126_3B36)
        #expect(message.username == "evtj:h6vY")
        #expect(message.isAuthentic(key: Self.password))
        #expect(message.hasFingerprint)
        #expect(!message.isAuthentic(key: Array("VOkJxbRl1RmTxUk/WvJxBT".utf8)))
    }

    @Test("The sample responses of RFC 5769 §2.2 and §2.3 contain the reflexive address")
    func sampleResponses() throws {
        let cases: [(String, String)] = [
            (Self.responseIPv4, "192.0.2.1"), (Self.responseIPv6, "2001:db8:1234:5678:11:2233:4455:6677"),
        ]
        for (hex, address) in cases {
            let message = try STUNMessage(parsing: Self.bytes(hex))
            #expect(message.messageClass == .successResponse)
            #expect(try message.mappedAddress == SocketAddress(ipAddress: address, port: 32853))
            #expect(message.attributes.contains(.software("test vector")))
            #expect(message.isAuthentic(key: Self.password))
            #expect(message.hasFingerprint)
        }
    }

    @Test("The sample request of RFC 5769 §2.4 is authentic with the long-term key")
    func longTermKey() throws {
        let message = try STUNMessage(parsing: Self.bytes(Self.longTermRequest))
        let username = "\u{30DE}\u{30C8}\u{30EA}\u{30C3}\u{30AF}\u{30B9}"
        #expect(message.username == STUNText(username))
        #expect(message.attributes.contains(.realm("example.org")))
        #expect(message.attributes.contains(.nonce(Array("f//499k954d6OL34oL9FSTvy64sA".utf8))))
        let key = MessageIntegrity.longTermKey(
            username: username, realm: "example.org", password: "TheMatrIX")
        #expect(message.isAuthentic(key: key))
        #expect(!message.isAuthentic(key: Array("TheMatrIX".utf8)))
    }

    @Test("A message written again has the sample's length, attributes and a correct hash; only the padding differs")
    func writesTheSample() throws {
        let sample = try STUNMessage(parsing: Self.bytes(Self.responseIPv6))
        let written = try STUNMessage(parsing: sample.datagram(key: Self.password))
        #expect(written.attributes == sample.attributes)
        #expect(written.isAuthentic(key: Self.password))
        #expect(written.hasFingerprint)
        #expect(sample.datagram(key: Self.password).readableBytes == 20 + 0x48)
    }

    @Test("Every attribute is parsed back")
    func roundTrip() throws {
        let id = STUNTransactionID(high: 1, low: 2)
        let attributes: [STUNAttribute] = [
            .mappedAddress(try SocketAddress(ipAddress: "203.0.113.9", port: 1)),
            .xorMappedAddress(try SocketAddress(ipAddress: "2001:db8::1", port: 65535)),
            .username("abcd:efgh"), .realm("r"), .nonce([1, 2, 3]), .software(""),
            .errorCode(487, reason: "Role Conflict"), .unknownAttributes([0x7FFF, 2, 3]), .priority(.max),
            .useCandidate, .iceControlled(tieBreaker: 7), .iceControlling(tieBreaker: .max),
            .other(type: 0x8055, value: [9, 9, 9, 9, 9]),
            .passwordAlgorithms([0, 2, 0, 0, 0, 1, 0, 0]), .passwordAlgorithm(2),
            .alternateServer(try SocketAddress(ipAddress: "203.0.113.10", port: 3478)), .channelNumber(0x4FFF),
            .lifetime(.max), .xorPeerAddress(try SocketAddress(ipAddress: "192.0.2.1", port: 9)),
            .data(ByteBuffer(string: "seven b")),
            .xorRelayedAddress(try SocketAddress(ipAddress: "2001:db8::2", port: 49_152)),
            .requestedAddressFamily(.ipv6), .additionalAddressFamily(.ipv6), .requestedTransport(17),
        ]
        for kind in [STUNMessage.Class.request, .indication, .successResponse, .errorResponse] {
            let message = STUNMessage(kind, method: 0xFFF, transactionID: id, attributes: attributes)
            let read = try STUNMessage(parsing: message.datagram())
            #expect(read.attributes == attributes)
            #expect(read.messageClass == kind)
            #expect(read.method == 0xFFF)
            #expect(!read.isAuthentic(key: []))
        }
    }

    @Test("An attribute after the hash is ignored, because the hash does not cover it")
    func ignoresWhatFollowsTheHash() throws {
        var bytes = STUNMessage(.request, transactionID: STUNTransactionID(high: 0, low: 0)).datagram(key: [1])
        // Replaces the fingerprint by USE-CANDIDATE and a comment, of the same eight bytes.
        bytes.moveWriterIndex(to: bytes.writerIndex - 8)
        bytes.writeInteger(0x0025_0000 as UInt32)
        bytes.writeInteger(0x8022_0000 as UInt32)
        let message = try STUNMessage(parsing: bytes)
        #expect(message.isAuthentic(key: [1]))
        #expect(!message.usesCandidate)
    }

    @Test("A change of any bit is detected by the fingerprint or makes the message malformed")
    func everyBitCounts() throws {
        let good = try Self.bytes(Self.request)
        for bit in 0..<(good.readableBytes * 8) {
            var bad = good
            let byte: UInt8 = try #require(bad.getInteger(at: bit / 8))
            bad.setInteger(byte ^ (1 << (bit % 8)), at: bit / 8)
            let isAccepted = (try? STUNMessage(parsing: bad)).map { $0.hasFingerprint } ?? false
            #expect(!isAccepted, "bit \(bit)")
        }
    }

    @Test("Truncated messages and random bytes do not trap the parser")
    func hostileBytes() throws {
        let good = try Self.bytes(Self.request)
        for length in 0..<good.readableBytes {
            #expect(throws: IoTError.self) {
                try STUNMessage(parsing: ByteBuffer(good.readableBytesView.prefix(length)))
            }
        }
        var generator = SeededGenerator(seed: 5769)
        for _ in 0..<3000 {
            var buffer = ByteBuffer()
            let body = Int.random(in: 0...16, using: &generator) * 4
            buffer.writeInteger(UInt16.random(in: 0...0x3FFF, using: &generator))
            buffer.writeInteger(UInt16(body))
            buffer.writeInteger(STUNMessage.magicCookie)
            buffer.writeRepeatingByte(1, count: 12)
            for _ in 0..<(body / 4) {
                let types: [UInt16] = [
                    1, 6, 8, 9, 10, 0x14, 0x15, 0x20, 0x24, 0x25, 0x8028, 0x8029, 0x802A,
                    0xC, 0xD, 0x12, 0x13, 0x16, 0x17, 0x19, 0x1C, 0x1D, 0x8000, 0x8002, 0x8023,
                ]
                buffer.writeInteger(types.randomElement(using: &generator) ?? 0)
                buffer.writeInteger(UInt16.random(in: 0...12, using: &generator))
            }
            _ = try? STUNMessage(parsing: buffer).datagram(key: [1])
        }
    }
}
