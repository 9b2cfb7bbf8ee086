import IoTCore
import MediaCodec
import NIOCore
import Testing

@testable import MediaChannel

/// Opens RTSP cameras at a real socket.
@Suite struct CameraSourceOpeningTests {
    private func open(_ server: ScriptedRTSPCamera, _ needsLibAV: inout Bool) -> ErrorCode? {
        let settings = CameraSettings(name: "front", url: "rtsp://127.0.0.1:\(server.port)/front")
        do throws(IoTError) {
            _ = try settings.open(eventLoop: nil, needsLibAV: &needsLibAV, DemuxerCancellation())
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        "After bytes that are not RTSP, a large response or a malformed description, libav does not open the camera",
        arguments: [
            "HTTP/1.1 200 OK\r\n\r\n", "RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 1073741824\r\n\r\n",
            "RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 4\r\n\r\nnone",
        ])
    func errorsOfProtocol(answer: String) throws {
        let server = try ScriptedRTSPCamera { _ in answer }
        var needsLibAV = false
        #expect(open(server, &needsLibAV) == .sourceUnsupported)
        #expect(server.connections.count == 1 && !needsLibAV)
        try server.close()
    }

    @Test("A camera with a track for libav is closed before SETUP and before libav connects, and once only")
    func trackForLibAV() throws {
        let description = [
            "v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=x", "t=0 0", "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000",
            "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z00AH9oBQBbs,aO48gA==", "a=control:trackID=0",
            "m=audio 0 RTP/AVP 97", "a=rtpmap:97 MP4A-LATM/44100", "a=control:trackID=1", "",
        ].joined(separator: "\r\n")
        let server = try ScriptedRTSPCamera { request in
            guard request.contains("User-Agent: iotvideod\r\n") else {
                return "RTSP/1.0 404 Not Found\r\nCSeq: 1\r\n\r\n"
            }
            return "RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: \(description.utf8.count)\r\n\r\n" + description
        }
        var needsLibAV = false
        #expect(open(server, &needsLibAV) == .sourceNotFound)
        #expect(needsLibAV && server.connections == [["DESCRIBE"], ["OPTIONS"]] && server.overlaps == 0)
        #expect(open(server, &needsLibAV) == .sourceNotFound)
        #expect(server.connections.dropFirst(2) == [["OPTIONS"]])
        try server.close()
    }
}
