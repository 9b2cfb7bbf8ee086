import IoTCore
import NIOCore
import RTPTestSupport
import Testing

@testable import PeerTransport

/// The RFCs' test vectors, which specify session keys.
@Suite struct SRTPTransformTests {
    private func bytes(_ hex: String) -> [UInt8] { Array(ByteBuffer(hex: hex).readableBytesView) }

    struct Vector: Sendable {
        var name: String
        var kind: SRTPTransformKind
        var keyLength: Int
        var sealed: String
    }

    static let vectors = [
        Vector(
            name: "RFC 7714 §16.1.1", kind: .rtp, keyLength: 16,
            sealed: """
                8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a
                51c7d19b 36de3adf 8833899d 7f27beb1 6a9152cf 765ee439 0cce
                """),
        Vector(
            name: "RFC 7714 §16.2.1", kind: .rtp, keyLength: 32,
            sealed: """
                8040f17b 8041f8d3 5501a0b2 32b1de78 a822fe12 ef9f78fa 332e33aa b1801238 9a58e2f3 b50b2a02
                76ffae0f 1ba63799 b87b7aa3 db36dfff d6b0f9bb 7878d7a7 6c13
                """),
        Vector(
            name: "RFC 7714 §17.1", kind: .rtcp, keyLength: 16,
            sealed: """
                81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda
                4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
                """),
        Vector(
            name: "RFC 7714 §17.2", kind: .rtcp, keyLength: 32,
            sealed: """
                81c8000d 4d617273 d50ae4d1 f5ce5d30 4ba297e4 7d470c28 2c3ece5d bffe0a50 a2eaa5c1 110555be
                8415f658 c61de047 6f1b6fad 1d1eb30c 4446839f 57ff6f6c b26ac3be 800005d4
                """),
    ]

    @Test("AES-GCM seals and opens the vectors of RFC 7714", arguments: vectors)
    func galoisCounterMode(vector: Vector) throws {
        let isControl = vector.kind == .rtcp
        let plain = bytes(
            isControl
                ? """
                81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef
                deadbeef deadbeef
                """
                : """
                8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465
                73207472 6573
                """)
        let key = (0..<vector.keyLength).map(UInt8.init)
        let salt = bytes("517569642070726f2071756f")
        let ssrc: UInt32 = isControl ? 0x4D61_7273 : 0x5501_A0B2
        let index: UInt64 = isControl ? 0x5D4 : 0xF17B
        let header = isControl ? 8 : 12
        let sealed = bytes(vector.sealed)

        var packet = plain + [UInt8](repeating: 0, count: sealed.count - plain.count)
        let sealing = try #require(GCMTransform(kind: vector.kind, isSealing: true, key: key, salt: salt))
        let opening = try #require(GCMTransform(kind: vector.kind, isSealing: false, key: key, salt: salt))
        packet.withUnsafeMutableBytes {
            guard let base = $0.baseAddress else { return }
            #expect(sealing.seal(base, header: header, count: plain.count, ssrc: ssrc, index: index))
        }
        #expect(packet == sealed)
        packet.withUnsafeMutableBytes {
            guard let base = $0.baseAddress else { return }
            #expect(opening.open(base, header: header, count: plain.count, ssrc: ssrc, index: index))
        }
        #expect(Array(packet.prefix(plain.count)) == plain)
    }

    @Test("Key derivation matches RFC 3711 §B.3 and RFC 6188 §7.2")
    func derivation() {
        let short = SRTPKeyDerivation(
            masterKey: bytes("E1F97A0D3E018BE0D64FA32C06DE4139"), masterSalt: bytes("0EC675AD498AFEEBB6960B3AABE6"))
        #expect(short.key(.rtpEncryption, count: 16) == bytes("C61E7A93744F39EE10734AFE3FF7A087"))
        #expect(short.key(.rtpSalt, count: 14) == bytes("30CBBC08863D8C85D49DB34A9AE1"))
        #expect(short.key(.rtpAuthentication, count: 20) == bytes("CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4"))
        let long = SRTPKeyDerivation(
            masterKey: bytes("F0F04914B513F2763A1B1FA130F10E2998F6F6E43E4309D1E622A0E332B9F1B6"),
            masterSalt: bytes("3B04803DE51EE7C96423AB5B78D2"))
        #expect(
            long.key(.rtpEncryption, count: 32)
                == bytes("5BA1064E30EC51613CAD926C5A28EF731EC7FB397F70A960653CAF06554CD8C4"))
        #expect(long.key(.rtpSalt, count: 14) == bytes("FA31791685CA444A9E07C6C64E93"))
    }
}
