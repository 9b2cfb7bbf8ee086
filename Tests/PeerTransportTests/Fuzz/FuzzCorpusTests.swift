import Foundation
import TestSupport
import Testing

@testable import PeerTransport

/// Replays what the fuzzers found worth keeping, crashes first of all: see Fuzz/fuzz.sh.
@Suite struct FuzzCorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Fuzz/Corpora").standardizedFileURL

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

    @Test("Every target has a folder of its own, and every folder a target")
    func folders() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(names) == Set(FuzzTarget.all.map(\.name)))
        #expect(Set(names).count == FuzzTarget.all.count)
    }
}
