import Foundation
import IoTCore
import MediaCodec
import NIOCore
import NIOPosix
import RTSP
import Synchronization
import Testing

/// Our own client reads GStreamer's RTSP server in real time.
@Suite struct RTSPInputTests {
    private struct Slices {
        var pictures: [[UInt8]] = []
        var sounds: [[UInt8]] = []

        /// Keeps only slices of pictures, because a payloader may add other units.
        mutating func take(_ frame: MediaFrame, _ codec: VideoCodec) {
            guard frame.kind == .video else { return sounds.append(Array(frame.bytes.readableBytesView)) }
            for unit in frame.nalUnits {
                let bytes = Array(unit.readableBytesView)
                let type = codec == .h264 ? bytes[0] & 0x1F : bytes[0] >> 1 & 0x3F
                if codec == .h264 ? (1...5).contains(type) : type < 32 { pictures.append(bytes) }
            }
        }
    }

    @Test(
        "Each coded frame of video and audio arrives unchanged over TCP and UDP",
        arguments: [
            (Clips.h264, RTSPTransport.tcp), (Clips.bFrames, .tcp), (Clips.bFrames, .udp), (Clips.h265, .tcp),
            (Clips.surround, .udp),
        ])
    func unchanged(_ clip: String, _ transport: RTSPTransport) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("cut." + URL(fileURLWithPath: clip).pathExtension)
        try FFmpegTool.run(["-t", "2.5", "-i", clip, "-c", "copy", file])
        let demuxer = try MediaDemuxer(url: file)
        let codec = try #require(demuxer.video?.codec)
        var (expected, found) = (Slices(), Slices())
        while let frame = try demuxer.readFrame() { expected.take(frame, codec) }

        let server = try RTSPServer(file: file)
        var configuration = RTSPClientConfiguration(
            url: try #require(ServiceURL(server.url)), credentials: nil, transport: transport)
        // At the end of the file, the server only stops sending.
        configuration.readTimeout = .seconds(2)
        let input = RTSPInput(configuration, eventLoop: nil)
        let tracks = try input.open()
        #expect(tracks.video?.codec == codec)
        if case .coded(let audio) = tracks.audio {
            #expect(audio.codec == demuxer.audio?.codec)
            #expect(audio.audioSpecificConfig == demuxer.audio?.audioSpecificConfig)
        } else {
            #expect(demuxer.audio == nil && tracks.audio == nil)
        }
        while let frame = try? input.readFrame() { found.take(frame, codec) }
        #expect(found.pictures == expected.pictures, "\(found.pictures.count) of \(expected.pictures.count)")
        // The server may omit the first audio frames of the file.
        #expect(!found.sounds.isEmpty && expected.sounds.count - found.sounds.count < 8)
    }

    @Test("Frames that are delivered on the event loop are those that a thread would have read, until the camera fails")
    func delivered() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("cut.mp4")
        try FFmpegTool.run(["-t", "2.5", "-i", Clips.h264, "-c", "copy", file])
        let demuxer = try MediaDemuxer(url: file)
        let codec = try #require(demuxer.video?.codec)
        var expected = Slices()
        while let frame = try demuxer.readFrame() { expected.take(frame, codec) }

        let server = try RTSPServer(file: file)
        var configuration = RTSPClientConfiguration(
            url: try #require(ServiceURL(server.url)), credentials: nil, transport: .tcp)
        configuration.readTimeout = .seconds(2)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let input = RTSPInput(configuration, eventLoop: loop)
        _ = try input.open()
        // One frame is read before the others are delivered, as the search for the first key frame does.
        let found = Mutex(Slices())
        let first = try input.readFrame()
        found.withLock { $0.take(first, codec) }
        let error = #expect(throws: IoTError.self) {
            try input.deliver { frame in
                loop.assertInEventLoop()
                found.withLock { $0.take(frame, codec) }
            }
        }
        #expect(error?.code == .sourceUnreachable)
        #expect(found.withLock { $0.pictures } == expected.pictures)
        let sounds = found.withLock { $0.sounds.count }
        #expect(sounds > 0 && expected.sounds.count - sounds < 8)
    }

    @Test("A cancelled delivery ends at once, and passes on no further frame")
    func cancelled() throws {
        let server = try RTSPServer(file: Clips.h264)
        let input = RTSPInput(
            RTSPClientConfiguration(
                url: try #require(ServiceURL(server.url)), credentials: nil, transport: .tcp),
            eventLoop: MultiThreadedEventLoopGroup.singleton.next())
        _ = try input.open()
        let count = Mutex(0)
        let error = #expect(throws: IoTError.self) {
            try input.deliver { _ in
                count.withLock { $0 += 1 }
                input.cancel()
            }
        }
        #expect(error?.code == .stopping && count.withLock { $0 } == 1)
    }

    @Test("The user name and the password are used, and a wrong password has its error")
    func credentials() throws {
        let server = try RTSPServer(file: Clips.bFrames, ["--user", "viewer", "--password", "s3cret"])
        let url = try #require(ServiceURL(server.url))
        for (password, isRight) in [("s3cret", true), ("wr0ng", false)] {
            let input = RTSPInput(
                RTSPClientConfiguration(
                    url: url, credentials: BasicCredentials(username: "viewer", password: password), transport: .tcp),
                eventLoop: nil)
            if isRight {
                #expect(try input.open().video != nil)
            } else {
                let error = #expect(throws: IoTError.self) { try input.open() }
                #expect(error?.code == .sourceRefused && error?.message.contains("wr0ng") == false)
            }
        }
    }

    @Test("An unknown path has its own error")
    func missing() throws {
        let server = try RTSPServer(file: Clips.h264)
        let url = try #require(ServiceURL("rtsp://127.0.0.1:\(server.port)/other"))
        let input = RTSPInput(
            RTSPClientConfiguration(url: url, credentials: nil, transport: .tcp), eventLoop: nil)
        let error = #expect(throws: IoTError.self) { try input.open() }
        #expect(error?.code == .sourceNotFound)
    }
}
