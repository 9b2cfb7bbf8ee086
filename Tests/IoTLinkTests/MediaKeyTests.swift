import Testing

@testable import IoTLink

@Suite("Media keys as text") struct MediaKeyTests {
    @Test("A new key has 32 characters that need no encoding in a URL, a unique id and 128 random bits")
    func form() throws {
        let keys = (0..<100).map { _ in MediaKey.random() }
        for key in keys {
            #expect(key.text.utf8.count == 32)
            #expect(key.text.wholeMatch(of: #/[0-9a-f]{10}[A-Za-z0-9_-]{22}/#) != nil)
            #expect(MediaKey(key.text) == key && key.text.hasPrefix(key.id))
            #expect(Base64URL.decode(key.text.dropFirst(10))?.count == 16)
        }
        #expect(Set(keys.map(\.text)).count == 100)
        #expect(Set(keys.map { $0.text.dropFirst(10) }).count == 100)
    }

    @Test(
        "Other text is not a key",
        arguments: [
            "", "0123456789", "0123456789AAECAwQFBgcICQoLDA0OD", "0123456789AAECAwQFBgcICQoLDA0ODwA",
            "012345678GAAECAwQFBgcICQoLDA0ODw", "0123456789AAECAwQFBgcICQoLDA0OD=", "0123456789AAECAwQFBgcICQoL.A0ODw",
            "0123456789ÄAECAwQFBgcICQoLDA0OD", "0123456789 AECAwQFBgcICQoLDA0ODw",
        ])
    func nonsense(text: String) {
        #expect(MediaKey(text) == nil)
    }

    @Test("A key is not printed")
    func secret() {
        let key = MediaKey.random()
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] { #expect(!text.contains(key.text)) }
    }
}
