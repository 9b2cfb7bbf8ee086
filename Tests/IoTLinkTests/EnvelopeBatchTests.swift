import IoTCore
import TestSupport
import Testing

@testable import IoTLink

@Suite("Several envelopes in one message")
struct EnvelopeBatchTests {
    private static let envelopes: [Envelope] = [
        .reply(LinkReply(id: "a", result: ["text": "grüß Gott"])),
        .push(LinkPush(method: "device.presence", params: ["online": true], t: 7)),
        .request(LinkRequest(id: "b", method: "action.take", params: [1, "[,]"], t: 1, deadline: 2)),
    ]

    @Test("A batch keeps the order of its envelopes; a batch of one is the envelope itself")
    func order() throws {
        let texts = try Self.envelopes.map { try $0.serialized() }
        for count in 1...texts.count {
            let bytes = EnvelopeBatch.joined(Array(texts.prefix(count)))
            let (read, malformed) = EnvelopeBatch.parse(bytes)
            #expect(read == Array(Self.envelopes.prefix(count)))
            #expect(malformed == 0)
        }
        #expect(EnvelopeBatch.joined([texts[0]]) == texts[0])
    }

    @Test("Malformed envelopes of a batch are counted and do not affect the others")
    func malformed() throws {
        let good = String(decoding: try Self.envelopes[0].serialized(), as: UTF8.self)
        for (text, envelopes, malformed) in [
            ("[\(good),{},\(good)]", 2, 1), ("[[\(good)],7,null]", 0, 3), ("[]", 0, 1), ("[\(good)", 0, 1),
            ("[\(good),]", 0, 1), ("7", 0, 1), ("", 0, 1),
        ] {
            let parsed = EnvelopeBatch.parse(Array(text.utf8))
            #expect(parsed.envelopes.count == envelopes, "\(text)")
            #expect(parsed.malformed == malformed, "\(text)")
        }
        let tooLarge = EnvelopeBatch.joined(
            Array(repeating: Array(good.utf8), count: Envelope.maximumSize / good.utf8.count + 1))
        #expect(EnvelopeBatch.parse(tooLarge).envelopes.isEmpty)
        #expect(EnvelopeBatch.parse(tooLarge).malformed == 1)
    }

    @Test("An envelope of the greatest depth that the hub forwards does not affect the rest of the batch")
    func depth() throws {
        let good = try Self.envelopes[0].serialized()
        // The envelope itself is one level.
        for levels in [127, 130] {
            let nest = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            let deep = Array(#"{"method":"m","params":\#(nest)}"#.utf8)
            #expect((try? Envelope(parsing: deep)) == nil ? levels == 130 : levels == 127)
            #expect(EnvelopeBatch.parse(EnvelopeBatch.joined([good, deep, good])).envelopes.count == 3)
        }
        let tooDeep = Array(String(repeating: "[", count: 100_000).utf8)
        #expect(EnvelopeBatch.parse(tooDeep).malformed == 1)
    }

    @Test("A batch is split without parsing it")
    func split() throws {
        let texts = try Self.envelopes.map { try $0.serialized() }
        for count in 1...texts.count {
            let envelopes = Array(texts.prefix(count))
            #expect(EnvelopeBatch.split(EnvelopeBatch.joined(envelopes)) == envelopes)
        }
        for (text, parts) in [
            (#" [ {"a":"]"} , [1,2] ,7 ] "#, [#"{"a":"]"} "#, "[1,2] ", "7 "]), (#"{"a":[1]}"#, [#"{"a":[1]}"#]),
            ("[]", [""]), ("[1,]", ["1", ""]), ("[1", ["[1"]), ("[1]x", ["[1]x"]), (#"["\"#, [#"["\"#]), ("", [""]),
        ] {
            #expect(EnvelopeBatch.split(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } == parts)
        }
        let most = EnvelopeBatch.joined(Array(repeating: texts[0], count: EnvelopeBatch.maximumCount))
        #expect(EnvelopeBatch.split(most).count == EnvelopeBatch.maximumCount)
        let tooMany = EnvelopeBatch.joined(Array(repeating: texts[0], count: EnvelopeBatch.maximumCount + 1))
        #expect(EnvelopeBatch.split(tooMany) == [tooMany])
        let tooLarge = EnvelopeBatch.joined([texts[0], Array(repeating: 0x31, count: EnvelopeBatch.maximumSize)])
        #expect(EnvelopeBatch.split(tooLarge) == [tooLarge])
    }

    @Test("A damaged batch does not trap")
    func damage() throws {
        var random = SeededGenerator(seed: 12)
        let batch = EnvelopeBatch.joined(try Self.envelopes.map { try $0.serialized() })
        for _ in 0..<2_000 {
            var bytes = batch
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            let (envelopes, malformed) = EnvelopeBatch.parse(bytes)
            #expect(envelopes.count + malformed > 0)
            #expect(!EnvelopeBatch.split(bytes).isEmpty)
            let cut = Array(bytes.prefix(.random(in: 0...bytes.count, using: &random)))
            #expect(!EnvelopeBatch.split(cut).isEmpty)
        }
    }
}
