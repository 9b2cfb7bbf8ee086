import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Sealing
import TestSupport
import Testing

@testable import RecordingStore

/// A clip of a street, recorded twice with a minute between.
private final class Recorded {
    static let wall: Int64 = 1_795_521_600_000_000
    static let gap: Int64 = 60_000_000

    let folder = TemporaryDirectory()
    let index: RecordingIndex
    let library: RecordingLibrary
    /// As the camera sent them.
    private(set) var frames: [MediaFrame] = []
    private(set) var length: Int64 = 0

    init(keys: [SealingKey] = [], changesSize: Bool = false, turns: Bool = false) throws {
        index = try RecordingIndex(path: folder.path + "/index.sqlite")
        try index.commit([.putCamera(.front, name: "front")])
        let path = folder.path + "/disk"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        var configuration = DiskConfiguration(path: path)
        configuration.floor = 0
        configuration.memory = 1 << 26
        let makeFiles = { @Sendable in
            SealedRecordingFiles(POSIXRecordingFiles(path: path, requiresMount: false), keys: keys)
        }
        let leases = SegmentLeases()
        let disk = RecordingDisk(
            files: makeFiles(), index: index, scanner: MP4SegmentScanner(), leases: leases,
            configuration: configuration
        ) { _ in }
        library = RecordingLibrary(
            index: index, disks: [LibraryDisk(disk: disk, path: path, makeFiles: makeFiles)], leases: leases)
        let recording = CameraRecording(
            .front, boot: "boot", length: SegmentLength(duration: 3_000_000), title: "front", hasSound: true)
        func take(_ outputs: [CameraRecording.Output]) {
            for output in outputs {
                switch output {
                case .begin(let opening): disk.begin(opening, of: .front)
                case .append(let fragment): disk.append(fragment, of: .front)
                case .end(let ending): disk.end(ending, of: .front)
                }
            }
        }
        for round in 0..<2 as Range<Int64> {
            let name = changesSize && round == 1 ? "bunny-h264-aac51.mp4" : "street-h264-aac.mp4"
            let source = try MediaDemuxer(url: Self.sample(name))
            if turns, round == 1 { recording.rotation = .left }
            take(recording.opened(video: source.video, audio: source.audio))
            let start = round * (length + Self.gap)
            while var frame = try source.readFrame() {
                length = round == 0 ? max(length, frame.pts + 100_000) : length
                frame.pts += start
                frame.dts = frame.pts
                frames.append(frame)
                let now = Moment(monotonic: 5_000_000_000 + frame.pts, wall: Self.wall + frame.pts)
                take(recording.take(frame, now: now, isSynchronised: true))
            }
            if changesSize { take(recording.end()) }
        }
        take(recording.end())
        disk.stop()
        #expect(disk.report.dropped.isEmpty)
    }

    static func sample(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Samples/\(name)")
            .standardizedFileURL.path
    }

    func clip(_ from: Int64, _ to: Int64) throws(IoTError) -> OpenClip {
        try library.clip(of: .front, in: Self.wall + from..<Self.wall + to, title: "front")
    }

    func bytes(_ clip: OpenClip) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while Int64(bytes.count) < clip.size {
            let part = try clip.read(at: Int64(bytes.count), count: 100_000)
            try #require(part.readableBytes > 0)
            bytes += part.readableBytesView
        }
        return bytes
    }

    func read(_ bytes: [UInt8]) throws -> [MediaFrame] {
        let path = folder.path + "/clip.mp4"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let demuxer = try MediaDemuxer(url: path)
        var frames: [MediaFrame] = []
        while let frame = try demuxer.readFrame() { frames.append(frame) }
        return frames
    }
}

@Suite("A time of recordings as one file", .timeLimit(.minutes(3)))
struct ClipTests {
    private func pictures(_ frames: [MediaFrame]) -> [[UInt8]] {
        frames.filter { $0.kind == .video }.map { frame in
            frame.nalUnits.map { Array($0.readableBytesView) }.filter { ![7, 8].contains(($0.first ?? 0) & 31) }
                .flatMap(\.self)
        }
    }

    @Test("It has all pictures and sound of both recordings; the gap is cut out, and both tracks keep their distance")
    func whole() throws {
        let recorded = try Recorded()
        let bytes = try recorded.bytes(try recorded.clip(0, 200_000_000))
        let frames = try recorded.read(bytes)
        #expect(pictures(frames) == pictures(recorded.frames))
        let sound = frames.filter { $0.kind == .audio }
        #expect(
            sound.map { Array($0.bytes.readableBytesView) }
                == recorded.frames.filter { $0.kind == .audio }.map { Array($0.bytes.readableBytesView) })
        for kind in [MediaKind.video, .audio] {
            let found = frames.filter { $0.kind == kind }.map(\.pts).sorted()
            let sent = recorded.frames.filter { $0.kind == kind }.map(\.pts).sorted()
            for (place, (one, other)) in zip(found, sent).enumerated() {
                let cut = other > recorded.length ? Recorded.gap : 0
                #expect(abs(one - found[0] - (other - sent[0] - cut)) < 150_000, "\(kind) \(place)")
            }
            // Between both recordings, less than a picture and a packet of sound is missing.
            #expect(zip(found, found.dropFirst()).allSatisfy { $1 - $0 < 300_000 }, "\(kind)")
        }
        // The distance of sound and picture after the gap is that before it.
        func distance(_ frames: [MediaFrame], after time: Int64) -> Int64? {
            guard let picture = frames.first(where: { $0.kind == .video && $0.isKeyFrame && $0.pts >= time }),
                let sound = frames.filter({ $0.kind == .audio }).min(by: {
                    abs($0.pts - picture.pts) < abs($1.pts - picture.pts)
                })
            else { return nil }
            return sound.pts - picture.pts
        }
        let before = try #require(distance(frames, after: 0))
        let after = try #require(distance(frames, after: recorded.length - 500_000))
        #expect(abs(before - after) <= 64_000, "\(before) \(after)")
    }

    @Test("10,000 random ranges are those of the whole clip, also of encrypted recordings", arguments: [false, true])
    func ranges(isEncrypted: Bool) throws {
        let recorded = try Recorded(keys: isEncrypted ? [SealingKey()] : [])
        let clip = try recorded.clip(11_500_000, 200_000_000)
        let bytes = try recorded.bytes(clip)
        #expect(Int64(bytes.count) == clip.size && bytes.count > 500_000)
        var random = SeededGenerator(seed: 5)
        for _ in 0..<(isEncrypted ? 300 : 10_000) {
            let start = Int.random(in: 0..<bytes.count, using: &random)
            let count = Int.random(in: 1...5_000, using: &random)
            let part = try clip.read(at: Int64(start), count: count)
            try #require(part.readableBytes > 0 && part.readableBytes <= count)
            try #require(part.readableBytesView.elementsEqual(bytes[start..<start + part.readableBytes]))
        }
        #expect(try clip.read(at: clip.size, count: 10).readableBytes == 0)
        #expect(try recorded.clip(11_500_000, 200_000_000).tag == clip.tag)
        #expect(try recorded.clip(11_500_001, 200_000_000).tag != clip.tag)
    }

    @Test("Players show it from the picture at its begin to that at its end")
    func exact() throws {
        let recorded = try Recorded()
        let path = recorded.folder.path + "/exact.mp4"
        try Data(try recorded.bytes(try recorded.clip(3_250_000, 12_750_000))).write(to: URL(fileURLWithPath: path))
        let shown = try digests(path)
        let source = try digests(Recorded.sample("street-h264-aac.mp4"))
        // Ten pictures a second.
        #expect(shown == Array(source[32...127]))
    }

    /// The MD5 of each picture that ffmpeg shows.
    private func digests(_ path: String) throws -> [String] {
        let ffmpeg = Process()
        ffmpeg.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        ffmpeg.arguments = [
            "ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-",
        ]
        let output = Pipe()
        ffmpeg.standardOutput = output
        try ffmpeg.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        ffmpeg.waitUntilExit()
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
    }

    @Test("It begins with the key frame before the time; what is empty, too long or of two forms is refused")
    func limits() throws {
        let recorded = try Recorded()
        let frames = try recorded.read(try recorded.bytes(try recorded.clip(11_500_000, 13_000_000)))
        let all = pictures(recorded.frames)
        let some = pictures(frames)
        let first = try #require(all.firstIndex(of: some[0]))
        #expect(recorded.frames.filter { $0.kind == .video }[first].isKeyFrame)
        #expect(Array(all[first..<first + some.count]) == some)
        // The second key frame is ten seconds after the first one.
        #expect((25...45).contains(some.count), "\(some.count)")
        func code(_ body: () throws(IoTError) -> OpenClip) -> ErrorCode? {
            do throws(IoTError) {
                _ = try body()
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code { () throws(IoTError) in try recorded.clip(30_000_000, 50_000_000) } == .playbackListEmpty)
        #expect(code { () throws(IoTError) in try recorded.clip(0, 15_000_000_000) } == .valueInvalid)
        let changed = try Recorded(changesSize: true)
        #expect(code { () throws(IoTError) in try changed.clip(0, 200_000_000) } == .videoSizeChanged)
        #expect(code { () throws(IoTError) in try changed.clip(70_000_000, 200_000_000) } == nil)
    }

    @Test("A clip and a thumbnail are turned as the camera was then; a clip has one rotation")
    func rotation() throws {
        let recorded = try Recorded(turns: true)
        let (end, second) = (recorded.length, recorded.length + Recorded.gap)
        for (start, rotation, size) in [(0, .none, (768, 576)), (second, .left, (576, 768))]
            as [(Int64, PictureRotation, (Int, Int))]
        {
            let clip = try recorded.bytes(recorded.clip(start, start + end))
            #expect(Self.rotation(of: clip) == rotation)
            let picture = try recorded.library.picture(of: .front, at: Recorded.wall + start + 2_000_000, nil)
            #expect(try Self.size(ofJPEG: Array(picture.bytes.readableBytesView)) == size)
        }
        do throws(IoTError) {
            _ = try recorded.clip(0, second + end)
            Issue.record("two rotations in one file")
        } catch {
            #expect(error.code == .videoSizeChanged)
        }
    }

    /// By the first two numbers of the matrix of the first track's header (ISO/IEC 14496-12 §8.3.2), version 1.
    private static func rotation(of file: [UInt8]) -> PictureRotation? {
        guard let header = file.firstRange(of: Array("tkhd".utf8))?.upperBound else { return nil }
        let (a, b) = (Array(file[header + 52..<header + 56]), Array(file[header + 56..<header + 60]))
        return switch (a, b) {
        case ([0, 1, 0, 0], [0, 0, 0, 0]): PictureRotation.none
        case ([0, 0, 0, 0], [0xFF, 0xFF, 0, 0]): .left
        default: nil
        }
    }

    /// Of the frame header, baseline or progressive (ITU-T T.81 §B.2.2).
    private static func size(ofJPEG bytes: [UInt8]) throws -> (Int, Int) {
        var place = 2
        while place + 8 < bytes.count, bytes[place] == 0xFF {
            if [0xC0, 0xC2].contains(bytes[place + 1]) {
                let numbers = bytes[place + 5..<place + 9].map(Int.init)
                return (numbers[2] << 8 | numbers[3], numbers[0] << 8 | numbers[1])
            }
            place += 2 + Int(bytes[place + 2]) * 256 + Int(bytes[place + 3])
        }
        throw IoTError(.mediaFailed)
    }
}
