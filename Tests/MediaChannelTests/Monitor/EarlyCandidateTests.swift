import IoTCore
import Logging
import MediaTestSupport
import NIOCore
import NIOPosix
import PeerTransport
import Testing

@testable import MediaChannel

@Suite(.timeLimit(.minutes(1))) struct EarlyCandidateTests {
    @Test("A device's candidates that arrive before its offer are enough to connect the call")
    func overtaking() async throws {
        let clip = try SampleClip("street-h264-aac.mp4", rounds: 1)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var sockets: [PeerSocket] = []
        for _ in 0...1 {
            sockets.append(
                try await PeerSocket.bind(
                    to: SocketAddress(ipAddress: "127.0.0.1", port: 0), on: loop, logger: logger))
        }
        let certificate = try PeerCertificate.generate()
        try await loop.flatSubmit { [sockets] in
            loop.makeCompletedFuture { try Self.call(clip, sockets, certificate, logger) }.flatMap { $0 }
        }.get()
        for socket in sockets { await socket.close() }
    }

    /// A camera's offer without candidates, which come before it; the camera gets none of the viewer's candidates.
    private static func call(
        _ clip: SampleClip, _ sockets: [PeerSocket], _ certificate: PeerCertificate, _ logger: Logger
    ) throws -> EventLoopFuture<Void> {
        let track = CameraTrack(parameters: .video(clip.video), payloadType: 96)
        let section = MediaSection(mid: "video", kind: .video, direction: .sendOnly, codecs: [track.codec])
        let camera = try sockets[0].makePeer(
            configuration: PeerConfiguration(
                hostAddresses: sockets[0].hostAddresses, isControlling: true, sections: [section]),
            certificate: certificate
        ) { _ in }
        let core = MonitorCore(eventLoop: sockets[1].eventLoop, logger: logger) { _ in }
        let connected = try core.beginPreparing()
        let offer = try camera.createOffer()
        #expect(!offer.candidateTexts.isEmpty)
        for candidate in offer.candidateTexts { core.feed.addRemoteCandidate(candidate) }
        core.feed.addRemoteCandidate("")
        let answer = try core.feed.answer(
            withoutCandidates(offer), iceServers: [], areNamedByDevice: false, socket: sockets[1],
            certificate: certificate)
        try camera.setAnswer(withoutCandidates(answer))
        return connected.assumeIsolated().always { _ in
            camera.close()
            core.fail(IoTError(.hungUp))
        }.nonisolated()
    }

    private static func withoutCandidates(_ description: SessionDescription) throws(IoTError) -> SessionDescription {
        let lines = description.text.split(separator: "\r\n").filter {
            !$0.hasPrefix("a=candidate:") && !$0.hasPrefix("a=end-of-candidates")
        }
        return try SessionDescription(parsing: lines.map { $0 + "\r\n" }.joined())
    }
}
