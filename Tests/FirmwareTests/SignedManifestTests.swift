import Firmware
import IoTCore
import Testing

@Suite struct SignedManifestTests {
    @Test("A manifest that OpenSSL signed is verified and read")
    func golden() throws {
        let manifest = try GoldenRelease.signed.verify([try GoldenRelease.key])
        #expect(manifest.model == "iotvideod-amd64" && manifest.version.description == "0.2.0")
        #expect(manifest.size == 8 && manifest.from.map(\.description) == ["0.1.*"] && !manifest.isDowngrade)
        #expect(manifest.text == GoldenRelease.manifest)
        #expect(try GoldenRelease.key.fingerprint.description == GoldenRelease.fingerprint)
    }

    @Test("Our signature is OpenSSL's, and the key's text is the same")
    func sign() throws {
        let key = try #require(ReleaseKey(pem: GoldenRelease.privateKey))
        #expect(key.pem == GoldenRelease.privateKey)
        #expect(key.publicKey.pem == GoldenRelease.publicKey)
        let manifest = try ReleaseManifest(text: Array(GoldenRelease.manifest.utf8))
        let signed = try SignedManifest(manifest, signedWith: key)
        #expect(signed.bytes == Array(GoldenRelease.manifest.utf8))
        // Ed25519 of swift-crypto is not always deterministic, so the signature is compared by its verification.
        #expect(try signed.verify([try GoldenRelease.key]) == manifest)
        #expect("\(key)" == "the release key \(GoldenRelease.fingerprint)")
    }

    @Test("Another byte, another signature, another key, and no key are refused")
    func refused() throws {
        let (signed, key) = (try GoldenRelease.signed, try GoldenRelease.key)
        for index in signed.bytes.indices {
            var bytes = signed.bytes
            bytes[index] ^= 1
            let changed = SignedManifest(bytes: bytes, signature: signed.signature)
            #expect(code { _ = try changed.verify([key]) } == .releaseSignatureInvalid)
        }
        for index in signed.signature.indices {
            var signature = signed.signature
            signature[index] ^= 1
            let changed = SignedManifest(bytes: signed.bytes, signature: signature)
            #expect(code { _ = try changed.verify([key]) } == .releaseSignatureInvalid)
        }
        for count in [0, 63, 65] {
            let signature = Array((signed.signature + [0]).prefix(count))
            let changed = SignedManifest(bytes: signed.bytes, signature: signature)
            #expect(code { _ = try changed.verify([key]) } == .releaseSignatureInvalid)
        }
        #expect(code { _ = try signed.verify([ReleaseKey().publicKey]) } == .releaseSignatureInvalid)
        #expect(code { _ = try signed.verify([]) } == .releaseSignatureInvalid)
        #expect(code { _ = try signed.verify([ReleaseKey().publicKey, key]) } == nil)
    }

    @Test("A text that the key signed for something else is no manifest")
    func otherText() throws {
        let key = ReleaseKey()
        let texts = ["", "{}", "[]", GoldenRelease.manifest.replacing("firmware 1", with: "firmware 2")]
        for text in texts {
            #expect(code { _ = try ReleaseManifest(text: Array(text.utf8)) } == .releaseManifestInvalid, "\(text)")
        }
        #expect(key.publicKey != ReleaseKey().publicKey)
    }
}
