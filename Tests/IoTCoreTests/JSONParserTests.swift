import IoTCore
import TestSupport
import Testing

@Suite struct JSONParserTests {
    @Test("RFC 8259 §13: the first example")
    func imageExample() throws {
        let value = try JSONValue(
            parsing: """
                {
                  "Image": {
                      "Width":  800,
                      "Height": 600,
                      "Title":  "View from 15th Floor",
                      "Thumbnail": {
                          "Url":    "http://www.example.com/image/481989943",
                          "Height": 125,
                          "Width":  100
                      },
                      "Animated" : false,
                      "IDs": [116, 943, 234, 38793]
                    }
                }
                """)
        #expect(value["Image"]?["Thumbnail"]?["Width"] == 100)
        #expect(value["Image"]?["IDs"] == [116, 943, 234, 38793])
        #expect(value["Image"]?["Animated"] == false)
    }

    static let accepted: [(String, JSONValue)] = [
        ("null", .null), (" true\n", true), ("\t\r\nfalse ", false), ("\"\"", ""), ("[]", []), ("{}", [:]),
        ("[ ]", []), ("{ }", [:]), ("0", 0), ("-0", 0), ("-1", -1), ("1.5", 1.5), ("1e3", 1000.0), ("1E+2", 100.0),
        ("1e-2", 0.01), ("-0.5e-1", -0.05), ("[1,[2,{\"a\":[]}]]", [1, [2, ["a": []]]]),
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u5bb6""#, "é家"), (#""\u0000""#, "\u{0}"),
        (#"{"a":1,"a":2}"#, ["a": 2]), (#"{"":0}"#, ["": 0]), ("\"\u{7F}\u{2028}家🏠\"", "\u{7F}\u{2028}家🏠"),
        (#""\uFFFF""#, "\u{FFFF}"),
    ]

    @Test("Valid texts are read", arguments: accepted)
    func accepts(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    static let refused = [
        "", " ", "nul", "nulll", "True", "'a'", "a", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{1:2}",
        #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a" 1}"#, #"{a:1}"#, "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x10",
        "--1",
        "1 2", "[]]", "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "\"", "\"abc", #""\"#, #""\x""#, #""\u12""#,
        #""\u12G4""#, #""\u+123""#, "\"a\nb\"", "\"\t\"", "\"\u{0}\"", "/* c */ 1", "1 // c", "\u{FEFF}1", "[1]\u{0}",
        "{\"a\":1}}", #"{"a":1 "b":2}"#, "\u{A0}1", "1_000", "１",
    ]

    @Test("Text that is not JSON is refused, with the offset", arguments: refused)
    func refuses(text: String) throws {
        let failure = try #require(throws: JSONParser.Failure.self) { _ = try JSONValue(parsing: text) }
        #expect((0...text.utf8.count).contains(failure.offset))
        #expect(!failure.reason.isEmpty)
    }

    @Test("Every truncated text is refused without a trap")
    func truncated() throws {
        let bytes = Array(#"{"a":[1.5e3,true,null,"\u00e9\ud83c\udfe0x"],"b":{"c":-12}}"#.utf8)
        _ = try JSONValue(parsing: bytes)
        for length in 0..<bytes.count {
            #expect(throws: JSONParser.Failure.self) { _ = try JSONValue(parsing: Array(bytes[..<length])) }
        }
    }

    @Test("Integers keep all 64 bits; larger ones become the nearest Double")
    func integers() throws {
        #expect(try JSONValue(parsing: "9223372036854775807") == .integer(.max))
        #expect(try JSONValue(parsing: "-9223372036854775808") == .integer(.min))
        #expect(try JSONValue(parsing: "9007199254740993") == .integer(9_007_199_254_740_993))
        #expect(try JSONValue(parsing: "9223372036854775808") == .number(9_223_372_036_854_775_808))
        #expect(try JSONValue(parsing: "1" + String(repeating: "0", count: 300)) == .number(1e300))
        #expect(throws: JSONParser.Failure.self) { _ = try JSONValue(parsing: String(repeating: "9", count: 400)) }
        #expect(try JSONValue(parsing: "1e-400") == .number(0))
    }

    @Test("RFC 8259 §7: a surrogate pair is one character; a single surrogate is refused")
    func surrogates() throws {
        #expect(try JSONValue(parsing: #""\uD834\uDD1E""#) == "𝄞")
        #expect(try JSONValue(parsing: #""\uD800\uDC00""#) == "\u{10000}")
        #expect(try JSONValue(parsing: #""\uDBFF\uDFFF""#) == "\u{10FFFF}")
        for text in [
            #""\uD834""#, #""\uDD1E""#, #""\uD834x""#, #""\uD834\n""#, #""\uD834\uD834""#, #""\uD834\u0041""#,
            #""\uD834\u"#,
        ] {
            #expect(throws: JSONParser.Failure.self) { _ = try JSONValue(parsing: text) }
        }
    }

    @Test(
        "Invalid UTF-8 in a string is refused",
        arguments: [
            [0x80], [0xC0, 0xAF], [0xE5, 0xAE], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0xFE],
        ])
    func invalidUTF8(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(throws: JSONParser.Failure.self) { _ = try JSONValue(parsing: [quote] + bytes + [quote]) }
    }

    @Test("Nesting is accepted up to the limit and refused beyond it, at any length")
    func depth() throws {
        let fits = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        _ = try JSONValue(parsing: fits)
        for open in ["[", "{\"a\":"] {
            #expect(throws: JSONParser.Failure.self) {
                _ = try JSONValue(parsing: String(repeating: open, count: 100_000))
            }
        }
        #expect(throws: JSONParser.Failure.self) { _ = try JSONValue(parsing: "[" + fits + "]") }
    }

    @Test("Random bytes and damaged texts never trap")
    func random() {
        var generator = SeededGenerator(seed: 42)
        let pieces = Array(#"{}[]",:\u0123dD8eE+-.tfn "#.utf8) + [0x00, 0x80, 0xE5, 0xFF]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                pieces.randomElement(using: &generator)!
            }
            // A value that was read must also be written and read back.
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            #expect((try? JSONValue(parsing: value.jsonText)) == value)
        }
    }
}
