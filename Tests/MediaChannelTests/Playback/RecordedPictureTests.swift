import Foundation
import IoTCore
import MediaCodec
import NIOCore
import RecordingStore
import Testing

@testable import MediaChannel

@Suite("Pictures of recordings")
struct RecordedPictureTests {
    private static let wall = RecordedDisk.wall

    @Test("A picture is the last key frame until its time, also in a gap, and of a growing recording")
    func pictures() async throws {
        let disk = try RecordedDisk()
        let first = try disk.record(until: 4_000_000)
        while disk.disk.growing(disk.camera)?.list.fragments.isEmpty != false { await Task.yield() }
        let library = disk.library
        let begun = try #require(first.first { $0.kind == .video && $0.isKeyFrame })
        let early = try library.picture(of: disk.camera, at: Self.wall + begun.pts + 40_000, nil)
        #expect(abs(early.time - Self.wall - begun.pts) < 35_000, "a growing recording")

        let frames = first + (try disk.record())
        disk.write(disk.recording.end())
        disk.disk.stop()
        let keys = frames.filter { $0.kind == .video && $0.isKeyFrame }.map(\.pts)
        let last = try #require(keys.last)
        #expect(keys.count > 1)
        for time in stride(from: keys[0] + 40_000, to: last + 2_000_000, by: 170_000) {
            let picture = try library.picture(of: disk.camera, at: Self.wall + time, nil)
            // The wall clock follows the camera's within a frame.
            #expect(keys.contains { abs(picture.time - Self.wall - $0) < 35_000 }, "at \(time)")
            #expect(picture.time <= Self.wall + time)
            let next = keys.first { Self.wall + $0 - 35_000 > picture.time + 1_000 }
            #expect(next.map { Self.wall + $0 + 35_000 > Self.wall + time } ?? true, "an earlier one at \(time)")
            #expect(picture.bytes.readableBytesView.starts(with: [0xFF, 0xD8]))
        }
        let small = try library.picture(of: disk.camera, at: .max, PictureBounds("64"))
        #expect(abs(small.time - Self.wall - last) < 35_000)
        #expect(small.bytes.readableBytes < early.bytes.readableBytes / 4)
        do throws(IoTError) {
            _ = try library.picture(of: disk.camera, at: Self.wall - 1_000_000, nil)
            Issue.record("a picture of before the recording")
        } catch {
            #expect(error.code == .playbackListEmpty)
        }
    }

    @Test("Each part of a time has its last key frame; parts without one are skipped, and what is seen again is cached")
    func parts() throws {
        let disk = try RecordedDisk()
        let frames = try disk.record()
        disk.write(disk.recording.end())
        disk.disk.stop()
        let library = disk.library
        let keys = frames.filter { $0.kind == .video && $0.isKeyFrame }.map { Self.wall + $0.pts }
        let (bounds, hour): (PictureBounds?, Int64) = (PictureBounds("64"), 3_600_000_000)
        let (start, end) = (Self.wall - hour, Self.wall + 2 * hour)
        for length in [700_000, 2_000_000, 60_000_000] as [Int64] {
            var expected: Set<Int> = []
            for key in keys { expected.insert(keys.lastIndex { ($0 - start) / length == (key - start) / length }!) }
            for isCached in [false, true] {
                var found: [Int64] = []
                var from = start
                var steps = 0
                while let next = try library.firstPicture(of: disk.camera, in: from..<end, every: length, bounds) {
                    steps += 1
                    try #require(next.part.lowerBound >= from && (next.part.lowerBound - start) % length == 0)
                    if let picture = next.picture {
                        #expect(next.part.contains(picture.time))
                        found.append(picture.time)
                    }
                    from = next.part.upperBound
                }
                // The hours without recordings cost nothing.
                #expect(steps < 40, "\(length), \(isCached)")
                #expect(
                    abs(found.count - expected.count) <= 1, "\(length): a key frame at a part's end may be in the next")
                #expect(found.allSatisfy { time in keys.contains { abs($0 - time) < 35_000 } })
            }
        }
        #expect(try library.firstPicture(of: disk.camera, in: start..<Self.wall, every: 1_000_000, bounds) == nil)
    }
}
