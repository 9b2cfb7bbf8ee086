import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Testing

@Suite("Demuxer")
struct MediaDemuxerTests {
    @Test(
        "The parameters of the tracks are read",
        arguments: [
            (Clips.h264, VideoCodec.h264, 768, 576, 10.0, 0, AudioCodec.aac, 16000, 1),
            (Clips.h265, .h265, 768, 576, 10, 0, .aac, 16000, 1),
            (Clips.bFrames, .h264, 768, 576, 10, 2, .pcma, 8000, 1),
            (Clips.surround, .h264, 1280, 720, 25, 0, .aac, 48000, 6),
        ])
    func parameters(
        _ clip: String, _ video: VideoCodec, _ width: Int, _ height: Int, _ rate: Double, _ depth: Int,
        _ audio: AudioCodec, _ sampleRate: Int, _ channels: Int
    ) throws {
        let demuxer = try MediaDemuxer(url: clip)
        let picture = try #require(demuxer.video)
        #expect(picture.codec == video)
        #expect(picture.width == width)
        #expect(picture.height == height)
        #expect(picture.reorderDepth == depth)
        #expect(abs(picture.frameRate - rate) < 0.01)
        #expect(picture.parameterSets.count == (video == .h265 ? 3 : 2))
        let sound = try #require(demuxer.audio)
        #expect(sound.codec == audio)
        #expect(sound.sampleRate == sampleRate)
        #expect(sound.channels == channels)
        #expect(sound.audioSpecificConfig.isEmpty == (audio != .aac))
        #expect(demuxer.unsupportedTracks.isEmpty)
    }

    @Test("Parameter sets precede each key frame, and no other frame", arguments: Clips.all + [Clips.sizeChange])
    func parameterSets(_ clip: String) throws {
        let demuxer = try MediaDemuxer(url: clip)
        var keyFrames = 0
        while let frame = try demuxer.readFrame() {
            guard frame.kind == .video else { continue }
            let video = try #require(demuxer.video)
            let units = frame.nalUnits.map { Array($0.readableBytesView) }
            #expect(units.reduce(0) { $0 + $1.count + 4 } == frame.bytes.readableBytes)
            let sets = units.filter { NALUnitType(codec: video.codec, firstByte: $0[0]).isParameterSet }
            let expected = frame.isKeyFrame ? video.parameterSets : []
            #expect(sets == expected)
            if frame.isKeyFrame {
                keyFrames += 1
                #expect(units.prefix(sets.count).elementsEqual(sets))
            }
        }
        #expect(keyFrames >= 1)
    }

    @Test("Delimiters, filler and ADTS headers are removed")
    func transportStream() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.ts")
        try FFmpegTool.run(["-i", Clips.h264, "-t", "3", "-c", "copy", file])
        let demuxer = try MediaDemuxer(url: file)
        #expect(demuxer.audio?.audioSpecificConfig == [0x14, 0x08])
        #expect(demuxer.audio?.sampleRate == 16000)
        while let frame = try demuxer.readFrame() {
            if frame.kind == .video {
                for unit in frame.nalUnits { #expect(![9, 12].contains(unit.readableBytesView[0] & 0x1F)) }
            } else {
                #expect(frame.bytes.getInteger(at: 0, as: UInt16.self).map { $0 & 0xFFF6 } != 0xFFF0)
            }
        }
        let original = try Pipeline.frames(Clips.h264).filter { $0.kind == .audio }.map(\.bytes)
        let ours = try Pipeline.frames(file).filter { $0.kind == .audio }.map(\.bytes)
        #expect(ours.count > 40)
        // The copy keeps the priming access unit, which the original's edit list removes.
        let expected = Array(original.prefix(ours.count - 1))
        #expect(Array(ours.dropFirst()) == expected)
    }

    @Test(
        "Rewinding returns the same frames again, marked as a discontinuity",
        arguments: ["street-h264-bframes-pcma.mkv", "street-h264-aac.mp4", "street-h264-size-change.ts"])
    func rewind(_ name: String) throws {
        let demuxer = try MediaDemuxer(url: Clips.sample(name))
        func pass() throws -> [MediaFrame] {
            var frames: [MediaFrame] = []
            while let frame = try demuxer.readFrame() { frames.append(frame) }
            return frames
        }
        let first = try pass()
        #expect(try demuxer.readFrame() == nil)
        #expect(first.allSatisfy { !$0.isDiscontinuity })
        for _ in 0..<2 {
            try demuxer.rewind()
            let again = try pass()
            for kind in [MediaKind.video, .audio] {
                let before = first.filter { $0.kind == kind }
                let after = again.filter { $0.kind == kind }
                #expect(after.map(\.bytes) == before.map(\.bytes))
                #expect(after.map(\.pts) == before.map(\.pts))
                #expect(after.first?.isDiscontinuity ?? true)
                #expect(!after.dropFirst().contains { $0.isDiscontinuity })
            }
        }
    }

    @Test("Frames of a raw H.264 file get times, including B-frames")
    func derivedTimes() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.h264")
        try FFmpegTool.run(["-i", Clips.bFrames, "-map", "0:v", "-c", "copy", file], allowMessages: true)
        let source = try Pipeline.frames(Clips.bFrames).filter { $0.kind == .video }
        let bare = try Pipeline.frames(file)
        #expect(bare.count == source.count)
        // The output order is the source's. The frame rate of a raw file is libav's guess.
        func ranks(_ frames: [MediaFrame]) -> [Int] {
            let sorted = frames.map(\.pts).sorted()
            return frames.map { frame in sorted.firstIndex(of: frame.pts) ?? -1 }
        }
        #expect(ranks(bare) == ranks(source))
        #expect(Set(bare.map(\.pts)).count == bare.count)
        #expect(bare.allSatisfy { $0.dts <= $0.pts })
    }

    @Test("A track with an unsupported codec is reported, and the other track is read")
    func unsupportedTrack() throws {
        let folder = try TemporaryFolder()
        let mp3 = folder.file("a.mkv")
        try FFmpegTool.run(["-i", Clips.h264, "-t", "2", "-c:v", "copy", "-c:a", "mp2", mp3])
        let demuxer = try MediaDemuxer(url: mp3)
        #expect(demuxer.audio == nil)
        #expect(demuxer.unsupportedTracks == ["audio mp2"])
        #expect(try demuxer.readFrame()?.kind == .video)

        let mpeg4 = folder.file("b.mkv")
        try FFmpegTool.run(["-i", Clips.h264, "-t", "2", "-c:v", "mpeg4", "-c:a", "copy", mpeg4])
        let other = try MediaDemuxer(url: mpeg4)
        #expect(other.video == nil)
        #expect(other.unsupportedTracks == ["video mpeg4"])
        #expect(try other.readFrame()?.kind == .audio)
    }

    @Test("A source without a supported track is rejected with the reason")
    func nothingUsable() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.mkv")
        try FFmpegTool.run(["-i", Clips.h264, "-t", "1", "-c:v", "mpeg4", "-c:a", "mp2", file])
        let error = try #require(throws: IoTError.self) { _ = try MediaDemuxer(url: file) }
        #expect(error.code == .sourceUnsupported)
        #expect(error.message.contains("mpeg4"))
    }

    @Test(
        "Other schemes are rejected before anything is opened",
        arguments: ["http://127.0.0.1/a.mp4", "exec://ls", "rtmp://h/x", ""])
    func schemes(_ url: String) throws {
        let error = try #require(throws: IoTError.self) { _ = try MediaDemuxer(url: url) }
        #expect(error.code == .sourceUnsupported)
    }

    @Test(
        "A word with a colon is a file name, not a libav protocol", arguments: ["exec:ls", "concat:a|b", "data:text,x"])
    func fileNames(_ url: String) throws {
        let error = try #require(throws: IoTError.self) { _ = try MediaDemuxer(url: url) }
        #expect(error.code == .sourceNotFound)
    }

    @Test("A playlist file does not open other files")
    func playlists() throws {
        let folder = try TemporaryFolder()
        let lists = [
            "a.txt": "ffconcat version 1.0\nfile '\(Clips.h264)'\n",
            "a.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\nfile://\(Clips.h264)\n#EXT-X-ENDLIST\n",
            "a.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n"
                + "a=rtpmap:96 H264/90000\n",
        ]
        for (name, text) in lists {
            let file = folder.file(name)
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let error = try #require(throws: IoTError.self) { _ = try MediaDemuxer(url: file) }
            #expect(error.code == .sourceUnsupported, "\(name)")
        }
    }

    @Test("A missing file and a file without media are reported")
    func missing() throws {
        let error = try #require(throws: IoTError.self) { _ = try MediaDemuxer(url: "/nowhere/clip.mp4") }
        #expect(error.code == .sourceNotFound)
        #expect(error.message == "there is no file /nowhere/clip.mp4")
        let other = try #require(throws: IoTError.self) { _ = try MediaDemuxer(url: #filePath) }
        #expect(other.code == .sourceUnsupported)
    }

    @Test("A file URL may contain percent signs")
    func fileURL() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a b%:.mp4")
        try FileManager.default.copyItem(atPath: Clips.h264, toPath: path)
        #expect(try MediaDemuxer(url: path).video != nil)
        let url = "file://" + folder.path + "/a%20b%25:.mp4"
        #expect(try MediaDemuxer(url: url).video != nil)
    }

    @Test("A cancelled demuxer stops reading")
    func cancelled() throws {
        let cancellation = DemuxerCancellation()
        let demuxer = try MediaDemuxer(url: Clips.h264, cancellation: cancellation)
        _ = try demuxer.readFrame()
        cancellation.cancel()
        let error = try #require(throws: IoTError.self) { while try demuxer.readFrame() != nil {} }
        #expect(error.code == .stopping)
    }
}
