import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Testing

@testable import RecordingStore

@Suite struct CameraRecordingTests {
    private static let wall: Int64 = 1_795_521_600_000_000
    private static let monotonic: Int64 = 5_000_000_000

    private static func clip(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Samples/\(name)")
            .standardizedFileURL.path
    }

    private struct Clip {
        var video: VideoParameters?
        var audio: AudioParameters?
        var frames: [MediaFrame] = []

        /// As a camera that sends over RTP.
        init(_ name: String) throws {
            let demuxer = try MediaDemuxer(url: CameraRecordingTests.clip(name))
            (video, audio) = (demuxer.video, demuxer.audio)
            while var frame = try demuxer.readFrame() {
                frame.dts = frame.pts
                frames.append(frame)
            }
        }
    }

    /// Frames arrive as they are stamped.
    private func moment(_ frame: MediaFrame, step: Int64 = 0) -> Moment {
        Moment(monotonic: Self.monotonic + frame.pts, wall: Self.wall + frame.pts + step)
    }

    private func recording(length: Int64 = 3_000_000, hasSound: Bool = true) throws -> CameraRecording {
        let camera = try #require(CameraNumber(rawValue: 1))
        return CameraRecording(
            camera, boot: "boot", length: SegmentLength(duration: length), title: "yard", hasSound: hasSound)
    }

    private func record(
        _ clip: Clip, _ recording: CameraRecording, change: (inout MediaFrame, inout Moment) -> Void = { _, _ in }
    ) throws -> [RecordedFiles.File] {
        var files = RecordedFiles()
        try files.take(recording.opened(video: clip.video, audio: clip.audio))
        for frame in clip.frames {
            var (frame, now) = (frame, moment(frame))
            change(&frame, &now)
            try files.take(recording.take(frame, now: now, isSynchronised: true))
        }
        try files.take(recording.end())
        return files.files
    }

    @Test("The sound can be left out, and the pictures are the same")
    func withoutSound() throws {
        let clip = try Clip("street-h264-aac.mp4")
        let whole = try record(clip, recording())
        let silent = try record(clip, recording(hasSound: false))
        #expect(silent.count == whole.count && silent.count > 1)
        for (silent, whole) in zip(silent, whole) {
            let (found, all) = (try silent.frames(), try whole.frames())
            #expect(all.contains { $0.kind == .audio } && !found.contains { $0.kind == .audio })
            #expect(found.map(\.bytes) == all.filter { $0.kind == .video }.map(\.bytes))
        }
    }

    @Test(
        "Over several segments nothing is missing and nothing comes twice, also where the picture size changes",
        arguments: ["street-h264-aac.mp4", "street-h265-aac.mp4", "street-h264-size-change.ts"])
    func complete(_ name: String) throws {
        let clip = try Clip(name)
        let files = try record(clip, recording())
        #expect(files.count >= 2)
        #expect(files.allSatisfy { $0.isClosed })
        let start = try #require(clip.frames.first { $0.kind == .video }?.pts)
        let recorded = try files.flatMap { try $0.frames() }
        for kind in MediaKind.allCases {
            let source = clip.frames.filter { $0.kind == kind && (kind == .video || $0.pts >= start) }
            let stored = recorded.filter { $0.kind == kind }
            #expect(stored.count == source.count || kind == .audio && abs(stored.count - source.count) <= 1)
            let pairs = zip(stored.reversed(), source.reversed())
            if kind == .video {
                #expect(pairs.allSatisfy { pictures($0) == pictures($1) && $0.isKeyFrame == $1.isKeyFrame })
            } else {
                #expect(pairs.allSatisfy { $0.bytes == $1.bytes })
            }
            #expect(pairs.allSatisfy { abs($0.pts - $1.pts) < 35_000 })
        }
        for file in files {
            let facts = file.fragments
            #expect(zip(facts, facts.dropFirst()).allSatisfy { $0.mediaStart + $0.mediaDuration == $1.mediaStart })
            #expect(facts.allSatisfy { abs($0.wallStart - $0.mediaStart - Self.wall) < 1_000 })
            #expect(facts.first?.startsWithKeyFrame == true)
        }
        #expect(Set(files.map(\.opening.run)).count == 1)
    }

    @Test("A day of two clips in 200 segments, with lost cameras: nothing is missing but that, and nothing comes twice")
    func day() throws {
        let recording = try recording()
        var files = RecordedFiles()
        var source: [MediaFrame] = []
        let clips = [try Clip("street-h264-aac.mp4"), try Clip("street-h264-size-change.ts")]
        for block in 0..<4 as Range<Int64> {
            let clip = clips[Int(block % 2)]
            let first = try #require(clip.frames.first?.pts)
            let length = try #require(clip.frames.map(\.pts).max()) - first + 100_000
            try files.take(recording.opened(video: clip.video, audio: clip.audio))
            for round in 0..<30 as Range<Int64> {
                for frame in clip.frames {
                    var frame = frame
                    // Six hours apart: meanwhile the camera is lost.
                    frame.pts += block * 21_600_000_000 + round * length - first
                    frame.dts = frame.pts
                    if frame.kind == .video { source.append(frame) }
                    try files.take(recording.take(frame, now: moment(frame), isSynchronised: true))
                }
            }
            try files.take(recording.end())
        }
        #expect(files.files.count >= 200 && files.files.allSatisfy { $0.isClosed }, "\(files.files.count)")
        let recorded = try files.files.flatMap { try $0.frames() }.filter { $0.kind == .video }
        #expect(recorded.count == source.count)
        for (recorded, source) in zip(recorded, source) {
            let isSame = pictures(recorded) == pictures(source) && recorded.isKeyFrame == source.isKeyFrame
            #expect(isSame && abs(recorded.pts - source.pts) < 35_000)
            guard isSame else { break }
        }
        let spans = files.files.compactMap { file in
            file.fragments.last.map { file.fragments[0].wallStart..<$0.wallStart + $0.mediaDuration }
        }
        let gaps = zip(spans, spans.dropFirst()).map { $1.lowerBound - $0.upperBound }
        #expect(gaps.count { $0 > 1_000_000_000 } == 3 && gaps.allSatisfy { $0 > -35_000 })
        #expect(gaps.allSatisfy { $0 < 135_000 || $0 > 1_000_000_000 }, "\(gaps.filter { $0 > 135_000 })")
    }

    /// Without parameter sets, which are in the header only.
    private func pictures(_ frame: MediaFrame) -> [ByteBuffer] {
        frame.nalUnits.filter { unit in
            let first = unit.getInteger(at: unit.readerIndex, as: UInt8.self) ?? 0
            return ![7, 8].contains(first & 0x1F) && !(32...34).contains(first >> 1 & 0x3F)
        }
    }

    @Test("Where the camera's clock jumps, another run begins, and its times are right")
    func jump() throws {
        let clip = try Clip("street-h264-aac.mp4")
        let middle = try #require(clip.frames.last { $0.kind == .video && $0.isKeyFrame })
        var isAfter = false
        let files = try record(clip, recording(length: 60_000_000)) { frame, _ in
            if frame.kind == .video, frame.pts == middle.pts {
                isAfter = true
                frame.isDiscontinuity = true
            }
            if isAfter {
                frame.pts += 3_600_000_000
                frame.dts = frame.pts
            }
        }
        #expect(files.map(\.opening.run.previousEnd) == [.stopped, .mediaJump])
        let fragment = try #require(files.last?.fragments.first)
        #expect(fragment.mediaStart == middle.pts + 3_600_000_000)
        #expect(abs(fragment.wallStart - Self.wall - middle.pts) < 1_000)
    }

    @Test("Where the wall clock is set, another run begins with the next key frame, and no picture is missing")
    func clockStep() throws {
        let clip = try Clip("street-h264-aac.mp4")
        let year: Int64 = 31_536_000_000_000
        let files = try record(clip, recording(length: 60_000_000)) { frame, now in
            if frame.pts > 2_500_000 { now.wall += year }
        }
        #expect(files.map(\.opening.run.previousEnd) == [.stopped, .clockStep])
        let pictures = try files.flatMap { try $0.frames() }.count { $0.kind == .video }
        #expect(pictures == clip.frames.count { $0.kind == .video })
        for fragment in files[0].fragments {
            #expect(abs(fragment.wallStart - fragment.mediaStart - Self.wall) < 1_000)
        }
        for fragment in files[1].fragments {
            #expect(abs(fragment.wallStart - fragment.mediaStart - Self.wall - year) < 1_000)
        }
    }

    @Test("Sound that cannot be stored does not keep the pictures from being recorded")
    func unknownSound() throws {
        var clip = try Clip("street-h264-aac.mp4")
        clip.audio?.audioSpecificConfig = []
        let recording = try recording()
        let files = try record(clip, recording)
        #expect(recording.failure?.code == .codecUnsupported)
        let recorded = try files.flatMap { try $0.frames() }
        #expect(recorded.count == clip.frames.count { $0.kind == .video })
    }

    @Test("G.711 is stored as AAC, without a gap between segments")
    func telephone() throws {
        let clip = try Clip("street-h264-bframes-pcma.mkv")
        let files = try record(clip, recording(length: 2_000_000))
        #expect(files.count >= 2)
        let sounds = try files.flatMap { try $0.frames() }.filter { $0.kind == .audio }.map(\.pts)
        #expect(zip(sounds, sounds.dropFirst()).allSatisfy { abs($1 - $0 - 128_000) <= 2 })
    }

    @Test("After `forget`, the next segment has nothing from before it, not even sound that waited for its encoder")
    func forgets() throws {
        let clip = try Clip("street-h264-bframes-pcma.mkv")
        let recording = try recording(length: 60_000_000)
        var files = RecordedFiles()
        try files.take(recording.opened(video: clip.video, audio: clip.audio))
        let keys = clip.frames.indices.filter { clip.frames[$0].kind == .video && clip.frames[$0].isKeyFrame }
        let change = try #require(keys.dropFirst().first)
        for (position, frame) in clip.frames.enumerated() {
            if position == change { try files.take(recording.forget()) }
            try files.take(recording.take(frame, now: moment(frame), isSynchronised: true))
        }
        try files.take(recording.end())
        #expect(files.files.count == 2 && files.files.allSatisfy { $0.isClosed && !$0.fragments.isEmpty })
        let later = try files.files[1].frames()
        #expect(later.first { $0.kind == .video }?.pts == clip.frames[change].pts)
        let fresh = try RecordedSound(#require(clip.audio))
        let expected = try clip.frames[change...].filter { $0.kind == .audio }.flatMap { try fresh.take($0) }
        let sounds = later.filter { $0.kind == .audio }
        #expect(sounds.count > 3 && sounds.map(\.bytes) == expected.map(\.bytes).suffix(sounds.count))
    }

    @Test("A camera that sends no further key frame gets another segment before the index's limit")
    func endlessGroup() throws {
        let clip = try Clip("street-h264-aac.mp4")
        let pictures = clip.frames.filter { $0.kind == .video }
        let recording = try recording(length: 60_000_000)
        var files = RecordedFiles()
        try files.take(recording.opened(video: clip.video, audio: nil))
        for index in 0..<1_800 {
            var frame = index == 0 || index == 1_700 ? pictures[0] : pictures[1]
            frame.pts = Int64(index) * 500_000
            frame.dts = frame.pts
            try files.take(recording.take(frame, now: moment(frame), isSynchronised: true))
        }
        try files.take(recording.end())
        #expect(files.files.count == 2 && files.files.allSatisfy { $0.isClosed })
        let duration = files.files[0].fragments.reduce(0) { $0 + $1.mediaDuration }
        #expect(duration > 700_000_000 && duration < SegmentLimits.duration)
    }

    @Test("Another rotation begins a segment with the next key frame, which says it; no picture is missing")
    func rotation() throws {
        let clip = try Clip("street-h264-aac.mp4")
        let recording = try recording(length: 60_000_000)
        let files = try record(clip, recording) { frame, _ in
            if frame.pts > 2_500_000 { recording.rotation = .half }
        }
        #expect(files.count == 2)
        let tracks = try files.map { try #require(SegmentTracks(sampleEntries: $0.opening.sampleEntry)) }
        #expect(tracks.map(\.video?.rotation) == [PictureRotation.none, .half])
        for (file, rotation) in zip(files, [PictureRotation.none, .half]) {
            #expect(try file.contents().tracks.video?.rotation == rotation)
        }
        let pictures = try files.flatMap { try $0.frames() }.count { $0.kind == .video }
        #expect(pictures == clip.frames.count { $0.kind == .video })
    }
}
