import Foundation
import IoTCore
import TestSupport
import Testing

@Suite struct JSONValueTests {
    @Test("Compact text has names in order and all required escapes")
    func compact() {
        let value: JSONValue = ["b": [1, 2.5, .null, true], "a": "x\"\\\n\r\t\u{0}\u{1F}\u{7F}/家🏠", "": [:]]
        #expect(
            value.jsonText
                == #"{"":{},"a":"x\"\\\n\r\t\u0000\u001f\u007f/家🏠","b":[1,2.5,null,true]}"#)
    }

    @Test("Pretty text is indented by two spaces and keeps empty lists on one line")
    func pretty() {
        let value: JSONValue = ["a": [1, [:]], "b": []]
        #expect(value.prettyText == "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}")
    }

    @Test(
        "Numbers are written and read back exactly",
        arguments: [
            0.1, -0.0, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .pi, 1e16, 123_456_789.125,
        ])
    func numbers(number: Double) throws {
        let value = JSONValue.number(number)
        #expect(try JSONValue(parsing: value.jsonText) == value)
    }

    @Test("Values that JSON cannot represent become null", arguments: [Double.nan, .infinity, -.infinity])
    func notNumbers(number: Double) {
        #expect(JSONValue.number(number).jsonText == "null")
    }

    @Test("Random values are read back equal, compact and pretty")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let value = randomValue(depth: 4, &generator)
            #expect(try JSONValue(parsing: value.jsonText) == value)
            #expect(try JSONValue(parsing: value.prettyText) == value)
        }
    }

    private func randomValue(depth: Int, _ generator: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0...(depth > 0 ? 6 : 4), using: &generator) {
        case 0: return .null
        case 1: return .bool(.random(using: &generator))
        case 2: return .integer(.random(in: .min ... .max, using: &generator))
        case 3:
            let number = Double(bitPattern: generator.next())
            return .number(number.isFinite ? number : 0.5)
        case 4: return .string(randomText(&generator))
        case 5: return .array((0..<3).map { _ in randomValue(depth: depth - 1, &generator) })
        default:
            return .object(
                Dictionary((0..<3).map { _ in (randomText(&generator), randomValue(depth: depth - 1, &generator)) }) {
                    $1
                })
        }
    }

    private func randomText(_ generator: inout SeededGenerator) -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x2FFFF, using: &generator)) { scalars.append(scalar) }
        }
        return String(scalars)
    }

    @Test("A whole number is an integer in any notation; a fraction or a number out of range is not")
    func integerValue() {
        #expect(JSONValue.number(3).integerValue == 3)
        #expect(JSONValue.integer(.max).integerValue == .max)
        #expect(JSONValue.number(3.5).integerValue == nil)
        #expect(JSONValue.number(1e300).integerValue == nil)
        #expect(JSONValue.number(.nan).integerValue == nil)
        #expect(JSONValue.string("3").integerValue == nil)
        #expect(JSONValue.bool(true).integerValue == nil)
    }

    @Test("Members are set, replaced and removed; other values than objects stay unchanged")
    func members() {
        var value: JSONValue = ["a": 1]
        value["b"] = 2
        value["a"] = nil
        #expect(value == ["b": 2])
        var text: JSONValue = "x"
        text["a"] = 1
        #expect(text == "x")
    }

    @Test("Foundation's coders support every kind of value")
    func codable() throws {
        let value: JSONValue = ["n": .null, "b": true, "i": .integer(.max), "d": 0.5, "s": "家", "a": [1, [:], []]]
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
    }
}
