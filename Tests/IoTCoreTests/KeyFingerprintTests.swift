import Foundation
import IoTCore
import Testing

@Suite struct KeyFingerprintTests {
    private let written = "SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    @Test("The text has the form of ssh and parses to the same fingerprint")
    func text() throws {
        let fingerprint = try #require(KeyFingerprint(bytes: Array(0..<32)))
        #expect(fingerprint.description == written)
        #expect(KeyFingerprint(written) == fingerprint)
        #expect(try JSONDecoder().decode([KeyFingerprint].self, from: Data("[\"\(written)\"]".utf8)) == [fingerprint])
    }

    @Test(
        "Each fingerprint has exactly one text; all others are refused",
        arguments: [
            "", "SHA256:", "SHA256:AAEC", "sha256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
            "SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
            // Its unused last two bits are not zero.
            "SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9",
        ])
    func refused(text: String) {
        #expect(KeyFingerprint(text) == nil)
    }

    @Test("The access point is a stronger source than the LAN, and the LAN is stronger than the hub")
    func sources() {
        #expect(KeySource.allCases.sorted() == [.hub, .lan, .ap])
    }
}
