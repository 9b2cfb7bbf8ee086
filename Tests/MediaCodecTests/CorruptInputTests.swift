import Foundation
import IoTCore
import MediaCodec
import NIOCore
import TestSupport
import Testing

/// Untrusted input must never trap. The random numbers are seeded, so failures are reproducible.
@Suite("Corrupt input")
struct CorruptInputTests {
    @Test(
        "A damaged picture is counted and marked, and the next key frame is intact",
        arguments: [
            Clips.bFrames, Clips.sizeChange,
        ])
    func resynchronises(_ clip: String) throws {
        var whole: [Int64: ByteBuffer] = [:]
        try Pipeline.decodeVideo(clip) { whole[$0.pts] = $0.packedBytes() }
        let demuxer = try MediaDemuxer(url: clip)
        let decoder = try VideoDecoder(try #require(demuxer.video))
        var pictures: [VideoPicture] = []
        var index = 0
        var damagedPTS: Int64?
        var nextKeyPTS: Int64?
        var firstAffectedPTS = Int64.max
        while var frame = try demuxer.readFrame() {
            guard frame.kind == .video else { continue }
            if index >= 5 { firstAffectedPTS = min(firstAffectedPTS, frame.pts) }
            if frame.isKeyFrame, damagedPTS != nil, nextKeyPTS == nil { nextKeyPTS = frame.pts }
            if index == 5 {
                damagedPTS = frame.pts
                // The header is kept; half of the slice data is removed.
                frame.bytes = try #require(cutInHalf(frame.bytes))
            }
            index += 1
            pictures += try decoder.decode(frame)
        }
        pictures += decoder.flush()
        #expect(decoder.errorCount >= 1)
        #expect(decoder.skippedFrames >= 1)
        let key = try #require(nextKeyPTS)
        #expect(pictures.contains { $0.pts >= key })
        let depth = demuxer.video?.reorderDepth ?? 0
        for picture in pictures where !picture.isCorrupt {
            // A B-frame that refers to the damaged picture is returned before it, when the damage is not yet known.
            if depth > 0, picture.pts >= firstAffectedPTS, picture.pts < key { continue }
            #expect(picture.packedBytes() == whole[picture.pts], "pts \(picture.pts)")
        }
        #expect(pictures.filter { $0.pts >= key }.count == whole.keys.filter { $0 >= key }.count)
        #expect(pictures.map(\.pts) == pictures.map(\.pts).sorted())
    }

    @Test("Flipped bits in frames", arguments: Clips.all)
    func frames(_ clip: String) throws {
        var random = SeededGenerator(seed: 0x5EED)
        let demuxer = try MediaDemuxer(url: clip)
        let video = try #require(demuxer.video)
        let audio = try #require(demuxer.audio)
        let frames = try Pipeline.frames(clip).prefix(160)
        for round in 0..<3 {
            let videoDecoder = try VideoDecoder(video)
            let audioDecoder = try AudioDecoder(audio)
            for frame in frames {
                var frame = frame
                if random.next() % 4 == 0 { frame.bytes = damaged(frame.bytes, &random, flips: 1 + 4 * round) }
                if frame.kind == .video {
                    for picture in try videoDecoder.decode(frame) { _ = picture.packedBytes() }
                } else {
                    _ = try audioDecoder.decode(frame)
                }
            }
            _ = videoDecoder.flush()
            _ = audioDecoder.flush()
        }
    }

    @Test(
        "Flipped bits and missing ends in files",
        arguments: [
            (Clips.h264, "a.mp4"), (Clips.h265, "a.mkv"), (Clips.bFrames, "a.mkv"), (Clips.h264, "a.ts"),
            (Clips.h265, "a.ts"), (Clips.bFrames, "a.h264"), (Clips.h265, "a.h265"), (Clips.h264, "a.flv"),
        ])
    func files(_ clip: String, _ name: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file(name)
        let isBare = name.hasSuffix("h264") || name.hasSuffix("h265")
        try FFmpegTool.run(
            ["-i", clip, "-t", "1.5", "-map", "0:v"] + (isBare ? [] : ["-map", "0:a?"]) + ["-c", "copy", file],
            allowMessages: true)
        let whole = ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: file)))
        // MEDIACODEC_FUZZ_ROUNDS=1000 runs a longer test.
        let rounds = ProcessInfo.processInfo.environment["MEDIACODEC_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 12
        var random = SeededGenerator(seed: 0xC0FFEE)
        for round in 0..<rounds {
            var bytes = damaged(whole, &random, flips: 1 << (round % 8))
            if round % 3 == 0 {
                bytes = bytes.readSlice(length: Int(random.next() % UInt64(bytes.readableBytes))) ?? bytes
            }
            try Data(bytes.readableBytesView).write(to: URL(fileURLWithPath: file))
            exercise(file)
        }
    }

    // Runs all code that processes a source's bytes. Errors are acceptable.
    private func exercise(_ file: String) {
        guard let demuxer = try? MediaDemuxer(url: file) else { return }
        let decoder = demuxer.video.flatMap { try? VideoDecoder($0) }
        let audioDecoder = demuxer.audio.flatMap { try? AudioDecoder($0) }
        let muxer = try? MP4Stream(video: demuxer.video, audio: demuxer.audio)
        while let frame = try? demuxer.readFrame() {
            _ = try? muxer?.write(frame)
            if frame.kind == .video {
                for picture in (try? decoder?.decode(frame)) ?? [] where picture.isCorrupt {
                    _ = try? PictureEncoder.jpeg(picture)
                }
            } else {
                _ = try? audioDecoder?.decode(frame)
            }
        }
        _ = decoder?.flush()
        _ = muxer?.finish()
    }

    private func damaged(_ bytes: ByteBuffer, _ random: inout SeededGenerator, flips: Int) -> ByteBuffer {
        var bytes = bytes
        guard bytes.readableBytes > 0 else { return bytes }
        for _ in 0..<flips {
            let position = bytes.readerIndex + Int(random.next() % UInt64(bytes.readableBytes))
            let byte = bytes.getInteger(at: position, as: UInt8.self) ?? 0
            bytes.setInteger(byte ^ 1 << UInt8(random.next() % 8), at: position)
        }
        return bytes
    }

    private func cutInHalf(_ bytes: ByteBuffer) -> ByteBuffer? {
        var result = ByteBuffer()
        for unit in NALUnitSequence(bytes) {
            guard let half = unit.getSlice(at: unit.readerIndex, length: max(1, unit.readableBytes / 2)) else {
                return nil
            }
            result.writeInteger(UInt32(half.readableBytes))
            result.writeImmutableBuffer(half)
        }
        return result
    }
}
