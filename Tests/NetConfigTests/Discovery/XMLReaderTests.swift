import Testing

@testable import NetConfig

@Suite struct XMLReaderTests {
    private func read(_ text: String, _ limits: XMLLimits = .datagram) throws(XMLFailure) -> XMLElement {
        try XMLReader.read(Array(text.utf8), limits)
    }

    @Test("Names are told by namespaces, whatever the prefixes are, and so are names in text")
    func namespaces() throws {
        for text in [
            "<a xmlns='urn:x' xmlns:t='urn:t'><b c='1'>t:one  two</b></a>",
            "<p:a xmlns:p='urn:x' xmlns:t='urn:t' xmlns='urn:x'><p:b c='1'>\n t:one two </p:b></p:a>",
        ] {
            let root = try read(text)
            #expect(root.name == XMLElement.Name("urn:x", "a"))
            let child = try #require(root.child("b"))
            #expect(child.attribute("c") == "1")
            #expect(
                child.words.map(child.qualifiedName) == [
                    XMLElement.Name("urn:t", "one"), XMLElement.Name("urn:x", "two"),
                ])
        }
    }

    @Test("A document type declaration is refused, and with it every entity")
    func documentType() {
        let bomb = """
            <!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;&x;">]><a>&y;</a>
            """
        #expect(throws: XMLFailure.documentType) { try read(bomb) }
        #expect(throws: XMLFailure.documentType) { try read("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>") }
    }

    @Test("Depth, elements, attributes, declarations and size are bounded")
    func bounds() {
        let deep = String(repeating: "<a>", count: 33) + String(repeating: "</a>", count: 33)
        #expect(throws: XMLFailure.tooDeep) { try read(deep) }
        let wide = "<a>" + String(repeating: "<b/>", count: 2000) + "</a>"
        #expect(throws: XMLFailure.tooManyElements) { try read(wide) }
        let attributes = (0...1000).map { "b\($0)=''" }.joined(separator: " ")
        #expect(throws: XMLFailure.tooManyAttributes) { try read("<a \(attributes)/>") }
        let declarations = (0...1000).map { "xmlns:b\($0)='urn:\($0)'" }.joined(separator: " ")
        #expect(throws: XMLFailure.tooManyAttributes) { try read("<a \(declarations)/>") }
        #expect(throws: XMLFailure.tooLarge) { try read("<a>" + String(repeating: " ", count: 65_536) + "</a>") }
        let marks = String(repeating: "\u{301}", count: 31)
        #expect(throws: XMLFailure.combiningMarks) { try read("<a>a\(marks)</a>") }
    }

    @Test(
        "What is not a document is refused with its line",
        arguments: ["", " ", "<a>", "<a></b>", "a", "<a/><b/>", "<p:a/>", "<a b='1' b='2'/>", "<a>&b;</a>", "\u{0}"])
    func malformed(text: String) {
        #expect(throws: XMLFailure.notWellFormed(line: 1)) { try read(text) }
    }

    @Test("A byte order mark, a wrong or unknown encoding, a line before and zeros after are forgiven")
    func encodings() throws {
        let documents: [(String, [UInt8])] = [
            ("Küche", [0xEF, 0xBB, 0xBF] + Array("<a>Küche</a>".utf8)),
            ("Küche", Array("<?xml version='1.0' encoding='utf-16'?><a>Küche</a>".utf8)),
            ("Küche", Array("<?xml version='1.0' encoding='gb2312'?><a>Küche</a>".utf8)),
            ("Küche", Array("\r\n <?xml version='1.0'?><a>Küche</a>".utf8) + [0, 0]),
            ("Küche", Array("<?xml version='1.0' encoding='iso-8859-1'?><a>K".utf8) + [0xFC] + Array("che</a>".utf8)),
            ("K\u{FFFD}che", Array("<?xml version='1.0'?><a>K".utf8) + [0xFC] + Array("che</a>".utf8)),
            ("Küche", [0xFF, 0xFE] + "<a>Küche</a>".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
        ]
        for (text, bytes) in documents { #expect(try XMLReader.read(bytes, .datagram).text == text) }
    }
}
