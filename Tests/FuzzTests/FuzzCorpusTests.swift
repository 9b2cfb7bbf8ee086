import Foundation
import TestSupport
import Testing

/// Replays what the fuzzers found worth keeping, crashes first of all: see Fuzz/fuzz.sh.
@Suite struct FuzzCorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Fuzz/Corpora").standardizedFileURL

    private func inputs(_ target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder.appendingPathComponent(target.name), includingPropertiesForKeys: nil)
        return try files.sorted { $0.lastPathComponent < $1.lastPathComponent }
            .map { ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0))) }
    }

    @Test("Each kept input keeps its target's properties", arguments: FuzzTarget.all.map(\.name))
    func corpus(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let inputs = try inputs(target)
        #expect(!inputs.isEmpty)
        for input in inputs {
            #expect(throws: Never.self, "Fuzz/Corpora/\(name)/\(input.name)") { try target.check(input.bytes) }
        }
    }

    @Test("Random, cut and repeated inputs keep them, too", arguments: FuzzTarget.all.map(\.name))
    func mutations(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let seeds = try inputs(target)
        var random = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            var bytes = seeds.randomElement(using: &random)?.bytes ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                guard let place = bytes.indices.randomElement(using: &random) else { break }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0 ... .max, using: &random)
                case 1: bytes.removeSubrange(place...)
                case 2: bytes.insert(contentsOf: bytes[..<place].suffix(40), at: place)
                default: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
            #expect(throws: Never.self, "\(bytes)") { try target.check(bytes) }
        }
    }

    @Test("What grew out of each kept input costs time linear in its size", arguments: FuzzTarget.all.map(\.name))
    func costs(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        guard let cost = target.cost else { return }
        for input in try inputs(target) {
            for choice in [ReadingCost.choice(of: input.bytes), 1, 2, 3] {
                #expect(throws: Never.self, "Fuzz/Corpora/\(name)/\(input.name), \(choice)") {
                    try cost.check(input.bytes, choice: choice)
                }
            }
        }
    }

    @Test("A reader of quadratic time is found, and one of linear time is not")
    func quadratic() {
        let linear = ReadingCost { bytes in Self.work(bytes.count * 60) }
        let quadratic = ReadingCost { bytes in Self.work(bytes.count * bytes.count / 400) }
        #expect(throws: Never.self) { try linear.check([1, 2, 3], choice: 1) }
        #expect(throws: FuzzFailure.self) { try quadratic.check([1, 2, 3], choice: 1) }
    }

    private static func work(_ steps: Int) {
        var value: UInt64 = 1
        for step in 0..<UInt64(steps) { value = value &* 31 &+ step }
        #expect(value != 0)
    }

    @Test("What grows repeats one part, with numbers that count when they are to differ, and cuts no character")
    func grown() throws {
        for choice in 0..<64 as Range<UInt64> {
            let input = Array("a:1 e\u{301};".utf8)
            let bytes = GrownInput(input, choice: choice).bytes(200)
            #expect(String(validating: bytes, as: UTF8.self) != nil)
            #expect((input.count...200).contains(bytes.count))
        }
        let grown = (0..<64 as Range<UInt64>).map { GrownInput(Array("{1}".utf8), choice: $0).bytes(24) }
        #expect(grown.contains(Array("{0}{1}{2}{3}{4}{5}{6}{7}".utf8)))
        #expect(grown.contains(Array("{11111111111111111111111}".utf8).prefix(23) + [UInt8(ascii: "}")]))
        #expect(GrownInput([], choice: 7).bytes(24).isEmpty)
    }

    @Test("Every target has a folder of its own, and every folder a target")
    func folders() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(names) == Set(FuzzTarget.all.map(\.name)))
        #expect(Set(names).count == FuzzTarget.all.count)
    }
}
