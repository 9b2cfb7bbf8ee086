import Foundation
import IoTCore
import Testing

@Suite struct KeyFingerprintTests {
    private let written = "SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    @Test("Written as ssh writes one, and read again")
    func text() throws {
        let fingerprint = try #require(KeyFingerprint(bytes: Array(0..<32)))
        #expect(fingerprint.description == written)
        #expect(KeyFingerprint(written) == fingerprint)
        #expect(try JSONDecoder().decode([KeyFingerprint].self, from: Data("[\"\(written)\"]".utf8)) == [fingerprint])
    }

    @Test(
        "One fingerprint has one text: everything else is refused",
        arguments: [
            "", "SHA256:", "SHA256:AAEC", "sha256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
            "SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
            // The two bits that no byte needs.
            "SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9",
        ])
    func refused(text: String) {
        #expect(KeyFingerprint(text) == nil)
    }

    @Test("Learned over the access point is stronger than on the LAN, and that than from the hub")
    func sources() {
        #expect(KeySource.allCases.sorted() == [.hub, .lan, .ap])
    }
}
