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
}
