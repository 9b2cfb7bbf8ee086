import Foundation
import IoTCore
import MediaCodec
import Testing

/// Tests with GStreamer's RTSP server, in real time.
@Suite("RTSP sources")
struct RTSPTests {
    @Test(
        "All pictures arrive unchanged over TCP and UDP",
        arguments: [
            (Clips.bFrames, RTSPTransport.tcp), (Clips.bFrames, .udp), (Clips.h265, .tcp), (Clips.surround, .udp),
        ])
    func pictures(_ clip: String, _ transport: RTSPTransport) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("cut." + URL(fileURLWithPath: clip).pathExtension)
        try FFmpegTool.run(["-t", "2.5", "-i", clip, "-c", "copy", file])
        let reference = try FFmpegTool.rawVideo(file)
        let server = try RTSPServer(file: file)
        let options = DemuxerOptions(rtspTransport: transport, readTimeout: .seconds(5))
        // Over UDP, libav may read the BYE before the last pictures, as in ffmpeg's command line. Those are not
        // compared.
        let pictures = reference.count / (clip == Clips.surround ? 1280 * 720 * 3 / 2 : 768 * 576 * 3 / 2)
        let difference = try Pipeline.difference(
            server.url, from: reference, options: options, limit: transport == .udp ? pictures - 5 : nil)
        #expect(difference == nil)
    }

    @Test("The tracks' parameters are the file's")
    func parameters() throws {
        let server = try RTSPServer(file: Clips.surround)
        let demuxer = try MediaDemuxer(url: server.url)
        #expect(demuxer.video?.width == 1280)
        #expect(demuxer.video?.height == 720)
        #expect(demuxer.video?.frameRate == 25)
        #expect(demuxer.video?.parameterSets.count == 2)
        #expect(demuxer.audio?.codec == .aac)
        #expect(demuxer.audio?.channels == 6)
        #expect(demuxer.audio?.sampleRate == 48000)
        let first = try #require(try demuxer.readFrame())
        #expect(first.isKeyFrame)
    }

    @Test("User name and password are used, wrong ones are reported, and neither is shown")
    func credentials() throws {
        let server = try RTSPServer(file: Clips.bFrames, ["--user", "viewer", "--password", "s3cret"])
        let good = "rtsp://viewer:s3cret@127.0.0.1:\(server.port)/camera"
        #expect(try MediaDemuxer(url: good).video?.width == 768)
        let bad = "rtsp://viewer:wr0ng@127.0.0.1:\(server.port)/camera"
        let error = try #require(throws: IoTError.self) { _ = try MediaDemuxer(url: bad) }
        #expect(error.code == .sourceRefused)
        #expect(error.message.contains("password"))
        #expect(!error.message.contains("wr0ng") && !error.message.contains("viewer"))
    }

    @Test("A server that never answers causes a timeout")
    func openTimeout() throws {
        let server = try SilentServer()
        let options = DemuxerOptions(openTimeout: .milliseconds(300))
        let error = try #require(throws: IoTError.self) {
            _ = try MediaDemuxer(url: "rtsp://127.0.0.1:\(server.port)/x", options: options)
        }
        #expect(error.code == .sourceUnreachable)
        #expect(error.message.contains("in time"))
    }

    @Test("Cancellation from another thread ends a waiting call")
    func cancellation() throws {
        let server = try SilentServer()
        let port = server.port
        let cancellation = DemuxerCancellation()
        let canceller = Thread {
            server.waitForClient()
            cancellation.cancel()
        }
        canceller.start()
        let error = try #require(throws: IoTError.self) {
            _ = try MediaDemuxer(
                url: "rtsp://127.0.0.1:\(port)/x", options: DemuxerOptions(openTimeout: .seconds(60)),
                cancellation: cancellation)
        }
        #expect(error.code == .stopping)
    }

    @Test("A port without a server is unreachable")
    func refused() throws {
        let error = try #require(throws: IoTError.self) { _ = try MediaDemuxer(url: "rtsp://127.0.0.1:1/x") }
        #expect(error.code == .sourceUnreachable)
    }

    @Test("An unknown host and an unknown path have other errors than an unreachable camera")
    func missing() throws {
        // RFC 6761 §6.4: this name never exists.
        let host = try #require(throws: IoTError.self) { _ = try MediaDemuxer(url: "rtsp://u:p@door.invalid:554/x") }
        #expect(host.code == .sourceHostUnknown && host.message.contains("'door.invalid'"))
        let server = try RTSPServer(file: Clips.h264)
        let path = try #require(throws: IoTError.self) {
            _ = try MediaDemuxer(url: "rtsp://127.0.0.1:\(server.port)/other")
        }
        #expect(path.code == .sourceNotFound && path.message.contains("/other"))
    }
}
