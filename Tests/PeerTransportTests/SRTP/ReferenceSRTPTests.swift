import IoTCore
import NIOCore
import RTPTestSupport
import Testing

@Suite struct ReferenceSRTPTests {
    private func bytes(_ hex: String) -> [UInt8] { Array(ByteBuffer(hex: hex).readableBytesView) }

    @Test("The AES-CM key stream matches RFC 3711 §B.2")
    func keystream() {
        let stream = ReferenceSRTP.keystream(
            key: bytes("2B7E151628AED2A6ABF7158809CF4F3C"), counter: bytes("F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000"),
            count: 48)
        #expect(
            Hex.encode(stream) == """
                e03ead0935c95e80e166b16dd92b4eb4\
                d23513162b02d0f72a43a2fe4a5f97ab\
                41e95b3bb0a2e8dd477901e4fca894c0
                """)
    }

    @Test("Key derivation matches RFC 3711 §B.3")
    func derivation() {
        let keys = ReferenceSRTP.keys(
            masterKey: bytes("E1F97A0D3E018BE0D64FA32C06DE4139"), masterSalt: bytes("0EC675AD498AFEEBB6960B3AABE6"),
            firstLabel: 0)
        #expect(Hex.encode(keys.sessionKey) == "c61e7a93744f39ee10734afe3ff7a087")
        #expect(Hex.encode(keys.sessionSalt) == "30cbbc08863d8c85d49db34a9ae1")
        #expect(Hex.encode(keys.authenticationKey) == "cebe321f6ff7716b6fd4ab49af256a156d38baa4")
    }

    private var rfc7714: ReferenceSRTP {
        ReferenceSRTP(
            sessionKey: bytes("000102030405060708090a0b0c0d0e0f"), sessionSalt: bytes("517569642070726f2071756f"))
    }

    @Test("An SRTP packet under AEAD_AES_128_GCM matches RFC 7714 §16.1.1")
    func gcmPacket() {
        let packet = bytes(
            """
            8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465
            73207472 6573
            """)
        #expect(
            rfc7714.protectGCM(packet, rollover: 0)
                == bytes(
                    """
                    8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a
                    51c7d19b 36de3adf 8833899d 7f27beb1 6a9152cf 765ee439 0cce
                    """))
    }

    @Test("An SRTCP packet under AEAD_AES_128_GCM matches RFC 7714 §17.1")
    func gcmControlPacket() {
        let packet = bytes(
            """
            81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef
            deadbeef deadbeef
            """)
        #expect(
            rfc7714.protectControlGCM(packet, index: 0x5d4)
                == bytes(
                    """
                    81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda
                    4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
                    """))
    }
}
