import IoTCore
import TestSupport
import Testing

@testable import RecordingStore

@Suite("The stored list of a segment's fragments")
struct FragmentListTests {
    /// The same example as in docs/recording.md, "The index".
    private let start: Int64 = 1_764_000_000_000_000

    private func example() -> FragmentList {
        var list = FragmentList(headerSize: 1_200)
        for (media, wall, bytes, isKey) in [
            (5_000_000, 0, 250_000, true), (6_000_000, 1_000_300, 240_000, false),
            (7_000_000, 2_000_200, 255_000, true),
        ] as [(Int64, Int64, Int64, Bool)] {
            list.append(
                FragmentFacts(
                    mediaStart: media, mediaDuration: 1_000_000, wallStart: start + wall, byteCount: bytes,
                    startsWithKeyFrame: isKey))
        }
        return list
    }

    @Test("The bytes are those of the document's example")
    func workedExample() throws {
        let bytes: [UInt8] = [
            0x01,  // version
            0xB0, 0x09,  // header: 1200 bytes
            0x80, 0xAD, 0xE2, 0x04,  // the first frame: 5,000,000 µs on the camera's clock
            0x80, 0x89, 0x7A,  // 1,000,000 µs long
            0xA1, 0xC2, 0x1E,  // 250,000 bytes, with a key frame
            0x00,  // as long as the one before
            0xD8, 0x04,  // begins 300 µs later than the camera's clock says
            0x80, 0xA6, 0x1D,  // 240,000 bytes, without
            0x00,  // as long
            0xC7, 0x01,  // 100 µs earlier
            0xB1, 0x90, 0x1F,  // 255,000 bytes, with a key frame
        ]
        #expect(example().bytes == bytes)
        #expect(try FragmentList(bytes: bytes, wallStart: start) == example())
    }

    @Test("Any list is as it was stored")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<300 {
            var list = FragmentList(headerSize: .random(in: 0...5_000, using: &random))
            var media = Int64.random(in: -1_000_000_000...1_000_000_000_000, using: &random)
            var wall = Int64.random(in: 0...4_000_000_000_000_000, using: &random)
            let first = wall
            for _ in 0..<Int.random(in: 0...80, using: &random) {
                let duration = Int64.random(in: 0...3_000_000, using: &random)
                list.append(
                    FragmentFacts(
                        mediaStart: media, mediaDuration: duration, wallStart: wall,
                        byteCount: .random(in: 0...5_000_000, using: &random),
                        startsWithKeyFrame: .random(using: &random)))
                media += duration + .random(in: 0...10_000, using: &random)
                wall += .random(in: 0...3_000_000, using: &random)
            }
            #expect(try FragmentList(bytes: list.bytes, wallStart: first) == list)
        }
    }

    @Test("A camera with steady fragments needs about six bytes for each")
    func size() {
        var random = SeededGenerator(seed: 2)
        var list = FragmentList(headerSize: 1_000)
        var wall = start
        for number in 0..<3_600 {
            list.append(
                FragmentFacts(
                    mediaStart: Int64(number) * 1_000_000, mediaDuration: 1_000_000, wallStart: wall,
                    byteCount: .random(in: 400_000...600_000, using: &random), startsWithKeyFrame: true))
            wall += 1_000_000 + .random(in: -2_000...2_000, using: &random)
        }
        #expect(list.bytes.count <= 3_600 * 6 + 20)
    }

    @Test("Damaged bytes are refused, or are another list, and never trap")
    func damage() {
        var random = SeededGenerator(seed: 3)
        let bytes = example().bytes
        for length in 0..<bytes.count {
            if let list = try? FragmentList(bytes: Array(bytes.prefix(length)), wallStart: start) {
                #expect(list.fragments.count < 3)
            }
        }
        for _ in 0..<20_000 {
            let damaged = random.bytes(.random(in: 0...60, using: &random))
            _ = try? FragmentList(bytes: [1] + damaged, wallStart: .max - 1_000)
            var changed = bytes
            changed[.random(in: changed.indices, using: &random)] = .random(in: 0...255, using: &random)
            _ = try? FragmentList(bytes: changed, wallStart: start)
        }
        #expect(throws: IoTError.self) { try FragmentList(bytes: [2, 0], wallStart: 0) }
        #expect(throws: IoTError.self) { try FragmentList(bytes: [], wallStart: 0) }
    }

    @Test("The fragment at a time, and the key frame before it")
    func search() throws {
        let list = example()
        for (time, number, offset) in [
            (-5, 0, 1_200), (0, 0, 1_200), (1_000_299, 0, 1_200), (1_000_300, 1, 251_200), (9_000_000, 2, 491_200),
        ] as [(Int64, Int, Int64)] {
            let found = try #require(list.fragment(at: start + time))
            #expect(found == (number, offset), "at \(time)")
        }
        #expect(try #require(list.keyFragment(atOrBefore: 1)) == (0, 1_200))
        #expect(try #require(list.keyFragment(atOrBefore: 2)) == (2, 491_200))
        #expect(FragmentList(headerSize: 7).fragment(at: 0) == nil)
    }

    @Test("The end is estimated at the rate of the camera's clock")
    func end() {
        var list = FragmentList(headerSize: 0)
        // The camera says 0.8 s where a second passes.
        for number in 0..<10 {
            list.append(
                FragmentFacts(
                    mediaStart: Int64(number) * 800_000, mediaDuration: 800_000, wallStart: Int64(number) * 1_000_000,
                    byteCount: 1, startsWithKeyFrame: true))
        }
        #expect(list.wallDuration == 10_000_000)
    }
}
