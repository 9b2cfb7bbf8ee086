import Foundation
import IoTCore
import TestSupport
import Testing

@Suite("Texts that compare in linear time (UAX #15 §13)")
struct StreamSafeTextTests {
    @Test(
        "30 combining marks in a row are accepted, 31 are not",
        arguments: [
            "\u{0301}", "\u{0316}\u{0301}", "\u{0344}", "\u{0F73}", "\u{0F75}", "\u{0F81}", "\u{05B0}", "\u{1D165}",
        ])
    func boundary(marks: String) {
        let unit = Array(marks.unicodeScalars)
        func text(_ count: Int) -> String {
            var text = "a"
            for index in 0..<count { text.unicodeScalars.append(unit[index % unit.count]) }
            return text + "b"
        }
        #expect(text(30).isStreamSafe)
        #expect(!text(31).isStreamSafe)
        #expect(!text(100_000).isStreamSafe)
        #expect((text(30) + text(30)).isStreamSafe, "a letter starts a new run")
    }

    @Test(
        "Text in real languages is accepted",
        arguments: ["", "front", "café", "cafe\u{301}", "Tiếng Việt", "हिन्दी", "한국어", "家🏠👨‍👩‍👧‍👦", "Z̸̢̛͇a̷̪͊l̵̰̈́g̷͙̈o̶̤͝"])
    func languages(text: String) {
        #expect(text.isStreamSafe)
    }

    /// To compare a text, Swift sorts the runs of non-starters in its decomposition.
    @Test("No character, repeated up to the limit, gives a run that is much longer in the normal form")
    func everyCharacter() {
        for value in 0x300...0x10FFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            // Outside these blocks, only marks begin or end with a mark. A sample of the rest is enough.
            let isOfInterest =
                scalar.properties.canonicalCombiningClass != .notReordered || (0x0F00...0x0FFF).contains(value)
                || (0x1F00...0x1FFF).contains(value) || value % 499 == 0
            guard isOfInterest else { continue }
            var text = ""
            for _ in 0..<64 { text.unicodeScalars.append(scalar) }
            guard text.isStreamSafe else { continue }
            var run = 0
            for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
                run = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : run + 1
                #expect(run <= 4, "U+\(String(value, radix: 16))")
            }
        }
    }

    @Test("A JSON text with a name or string that is not stream-safe is refused with the reason, escaped or not")
    func refusedInJSON() throws {
        let marks = String(repeating: "\u{301}\u{316}", count: 16)
        let escapes = String(repeating: #"\u0301\u0316"#, count: 16)
        for text in [#"{"a\#(marks)":1}"#, #"["a\#(marks)"]"#, #"{"a\#(escapes)":1}"#, #"{"a":"\#(escapes)"}"#] {
            let failure = try #require(throws: JSONParser.Failure.self) { _ = try JSONValue(parsing: text) }
            #expect(failure.reason == "a string with more than 30 combining marks in a row")
        }
        let allowed = String(repeating: "\u{301}", count: 30)
        #expect(try JSONValue(parsing: #"{"a\#(allowed)":"\#(allowed)"}"#)["a" + allowed] == .string(allowed))
    }
}
