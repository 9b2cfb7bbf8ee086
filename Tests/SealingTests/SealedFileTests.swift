import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import Sealing

/// A sealed file in memory, and what was written to it.
private struct Rig {
    var file: SealedFile
    var stored: [UInt8]
    var contents: [UInt8] = []

    init(_ key: SealingKey) {
        file = SealedFile(key: key)
        stored = Array(file.head.readableBytesView)
    }

    mutating func write(_ bytes: [UInt8]) {
        let (record, sealed) = file.sealed(ByteBuffer(bytes: bytes))
        stored += sealed.readableBytesView
        file.wrote(record)
        contents += bytes
    }

    mutating func overwrite(_ bytes: [UInt8], at offset: Int) throws {
        let (place, sealed) = try #require(file.sealedSlot(ByteBuffer(bytes: bytes), at: Int64(offset)))
        stored.replaceSubrange(Int(place)..<Int(place) + sealed.readableBytes, with: sealed.readableBytesView)
        file.wroteSlot(ByteBuffer(bytes: bytes), at: Int64(offset))
        contents.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    /// The file as somebody finds it who opens it.
    static func open(_ stored: [UInt8], _ keys: [SealingKey]) throws -> SealedFile {
        guard
            case .sealed(var file) = SealedFile.open(
                head: ByteBuffer(bytes: stored.prefix(SealedFile.headSize)), keys: keys)
        else { throw IoTError(.notFound, "it is not sealed") }
        while file.nextHead.upperBound <= stored.count {
            let next = Int(file.nextHead.lowerBound)..<Int(file.nextHead.upperBound)
            guard file.take(head: ByteBuffer(bytes: stored[next]), fileSize: Int64(stored.count)) else { break }
        }
        return file
    }

    /// `nil` if something there was changed.
    static func read(_ file: SealedFile, _ stored: [UInt8], _ range: Range<Int>) -> [UInt8]? {
        var result: [UInt8] = []
        for part in file.parts(of: Int64(range.lowerBound)..<Int64(range.upperBound)) {
            let bytes = ByteBuffer(bytes: stored[Int(part.place)..<Int(part.place) + part.count])
            guard let contents = file.opened(part, bytes) else { return nil }
            result += contents.readableBytesView
        }
        return result
    }
}

@Suite("A file that is encrypted while it grows")
struct SealedFileTests {
    private let key = SealingKey()

    private func sample(_ random: inout SeededGenerator, records: Int = 6) -> Rig {
        var rig = Rig(key)
        for _ in 0..<records {
            let count =
                Int.random(in: 1...3, using: &random) == 1 ? 65_536 * 2 : Int.random(in: 1...200_000, using: &random)
            rig.write((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        }
        return rig
    }

    @Test("Any range reads what was written, also over the slot")
    func ranges() throws {
        var random = SeededGenerator(seed: 1)
        var rig = sample(&random)
        try rig.overwrite(Array(1...16), at: 28)
        let file = try Rig.open(rig.stored, [key])
        #expect(file.size == Int64(rig.contents.count))
        #expect(file.storedSize == Int64(rig.stored.count))
        for _ in 0..<300 {
            let start = Int.random(in: 0..<rig.contents.count, using: &random)
            let end = min(rig.contents.count, start + Int.random(in: 1...100_000, using: &random))
            #expect(Rig.read(file, rig.stored, start..<end) == Array(rig.contents[start..<end]))
            #expect(Rig.read(rig.file, rig.stored, start..<end) == Array(rig.contents[start..<end]))
        }
        #expect(Rig.read(file, rig.stored, 20..<50) == Array(rig.contents[20..<50]))
        #expect(Rig.read(file, rig.stored, rig.contents.count..<rig.contents.count + 9) == [])
        #expect(!rig.stored.contains(sequence: rig.contents[1_000..<1_032]))
    }

    @Test("A file that was cut has its whole records")
    func cut() throws {
        var random = SeededGenerator(seed: 2)
        let rig = sample(&random)
        let ends = [0] + rig.file.wholeParts.map { Int($0.offset) + $0.count }
        #expect(ends.count == 7)
        for _ in 0..<60 {
            let stored = Array(
                rig.stored.prefix(Int.random(in: SealedFile.headSize..<rig.stored.count, using: &random)))
            let file = try Rig.open(stored, [key])
            #expect(file.storedSize <= stored.count)
            #expect(Rig.read(file, stored, 0..<Int(file.size)) == Array(rig.contents.prefix(Int(file.size))))
            #expect(Int(file.size) + 200_000 + 300 >= stored.count - SealedFile.headSize - 32 * 6 - 16 * 24)
        }
    }

    @Test("Nothing that was changed is read")
    func changed() throws {
        var random = SeededGenerator(seed: 3)
        let rig = sample(&random)
        for _ in 0..<200 {
            var stored = rig.stored
            let place = Int.random(in: 16..<48, using: &random)
            let record = Int.random(in: SealedFile.headSize..<stored.count, using: &random)
            stored[Bool.random(using: &random) ? place : record] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let file = try Rig.open(stored, [key])
            let whole = file.wholeParts.allSatisfy { part in
                file.opened(part, ByteBuffer(bytes: stored[Int(part.place)..<Int(part.place) + part.count])) != nil
            }
            #expect(!whole || file.size < rig.file.size)
        }
    }

    @Test("A slot that was written in part is as if it was not written")
    func tornSlot() throws {
        var rig = Rig(key)
        rig.write(Array(0..<100))
        let before = rig
        try rig.overwrite([9, 9, 9, 9], at: 50)
        for cut in 0..<52 {
            var stored = before.stored
            stored.replaceSubrange(48..<48 + cut, with: rig.stored[48..<48 + cut])
            let file = try Rig.open(stored, [key])
            #expect(Rig.read(file, stored, 0..<100) == before.contents)
        }
        #expect(rig.file.sealedSlot(ByteBuffer(bytes: [1]), at: 100) == nil)
        #expect(rig.file.sealedSlot(ByteBuffer(repeating: 1, count: 49), at: 0) == nil)
    }

    @Test("A file says which key it needs, and the same contents are never stored twice as the same bytes")
    func keys() throws {
        let other = SealingKey()
        var rig = Rig(key)
        rig.write(Array(repeating: 7, count: 40))
        rig.write(Array(repeating: 7, count: 40))
        guard case .keyMissing(let id) = SealedFile.open(head: rig.file.head, keys: [other]) else {
            Issue.record("it was opened with another key")
            return
        }
        #expect(id == key.id)
        #expect(try Rig.open(rig.stored, [other, key]).size == 80)
        let first = SealedFile.headSize + 32..<SealedFile.headSize + 72
        #expect(rig.stored[first] != rig.stored[first.lowerBound + 88..<first.upperBound + 88])
        guard case .plain = SealedFile.open(head: ByteBuffer(string: "0000ftypiso5"), keys: [key]) else {
            Issue.record("an MP4 file was taken for an encrypted one")
            return
        }
        #expect(SealingKey(text: key.text + "\n")?.id == key.id)
        #expect(SealingKey(text: String(key.text.dropLast())) == nil)
        #expect("\(key)" == "the key \(key.id)" && !String(reflecting: key).contains(key.text))
    }

    @Test("A record of another file, or from another place, is not read")
    func swapped() throws {
        var one = Rig(key)
        var two = Rig(key)
        for _ in 0..<2 {
            one.write(Array(repeating: 1, count: 40))
            two.write(Array(repeating: 2, count: 40))
        }
        let size = 32 + 40 + 16
        var stored = one.stored
        stored.replaceSubrange(
            SealedFile.headSize..<SealedFile.headSize + size, with: two.stored[SealedFile.headSize...].prefix(size))
        #expect(Rig.read(try Rig.open(stored, [key]), stored, 0..<40) == nil)
        stored = one.stored
        stored.replaceSubrange(SealedFile.headSize..<SealedFile.headSize + size, with: stored.suffix(size))
        #expect(try Rig.open(stored, [key]).size == 0)
    }

    /// Made by OpenSSL's functions in Python, from docs/recording.md alone.
    @Test("A file of another implementation is read")
    func golden() throws {
        let key = try #require(SealingKey(text: String(repeating: "0123456789abcdef", count: 4)))
        let stored = try #require(Hex.decode(Self.goldenFile))
        let file = try Rig.open(stored, [key])
        let contents = try #require(Rig.read(file, stored, 0..<Int(file.size)))
        #expect(String(decoding: contents, as: UTF8.self) == "the FIRST record, the second record")
    }

    private static let goldenFile = """
        696f747673656131f686b136919765e0000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\
        00000000000000040000000500000000030303030303030303030303030303032d899e364e50b6294a1654ae2116b0d0\
        82301cfd9000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
        000000000000000000000012000000000101010101010101010101010101010188a285d418cd87b2da483dfd99226423\
        216b1ec1a0dc5eb7e96ccd8cb1dd85f7dbe5000000000000001200000011000000000202020202020202020202020202\
        02028d11e287bc476e54520871e587fb99d4699e6b215024347fc52134b2249691b579
        """
}

extension [UInt8] {
    fileprivate func contains(sequence: ArraySlice<UInt8>) -> Bool {
        indices.contains { self[$0...].starts(with: sequence) }
    }
}
