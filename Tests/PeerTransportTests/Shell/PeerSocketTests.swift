import IoTCore
import Logging
import NIOCore
import NIOPosix
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// Real sockets on the loopback interface.
@Suite struct PeerSocketTests {
    /// A socket's peer, controlled from a test's task.
    final class Client: Sendable {
        let socket: PeerSocket
        let events: AsyncStream<PeerEvent>
        private let peer: NIOLoopBound<Peer>

        init(
            _ socket: PeerSocket, isControlling: Bool, sections: [MediaSection] = [],
            onEvent: @escaping @Sendable (PeerEvent) -> Void = { _ in }
        ) async throws {
            self.socket = socket
            let (stream, continuation) = AsyncStream.makeStream(of: PeerEvent.self)
            events = stream
            let certificate = try PeerCertificate.generate()
            peer = try await socket.eventLoop.submit {
                let configuration = PeerConfiguration(
                    hostAddresses: [], isControlling: isControlling, sections: sections)
                let peer = try socket.makePeer(configuration: configuration, certificate: certificate) { event in
                    onEvent(event)
                    continuation.yield(event)
                    if case .stateChanged(let state) = event, state.isEnd { continuation.finish() }
                }
                return NIOLoopBound(peer, eventLoop: socket.eventLoop)
            }.get()
        }

        func run<Result: Sendable>(_ body: @escaping @Sendable (Peer) throws -> Result) async throws -> Result {
            try await socket.eventLoop.submit { try body(self.peer.value) }.get()
        }

        /// The first event for which `pick` returns a value; `nil` when the peer ends before.
        func first<Result>(_ pick: (PeerEvent) -> Result?) async -> Result? {
            for await event in events {
                if let result = pick(event) { return result }
            }
            return nil
        }

        func becomesConnected() async -> Bool {
            await first { event -> Bool? in
                guard case .stateChanged(let state) = event else { return nil }
                switch state {
                case .connected: return true
                case .failed, .closed: return false
                default: return nil
                }
            } ?? false
        }

        func end() async -> PeerConnectionState? {
            await first { event -> PeerConnectionState? in
                if case .stateChanged(let state) = event, state.isEnd { state } else { nil }
            }
        }
    }

    static func connect(
        _ camera: Client, _ viewer: Client, tamperOffer: (String) -> String = { $0 },
        tamper: (String) -> String = { $0 }
    ) async throws {
        let offer = tamperOffer(try await camera.run { try $0.createOffer().text })
        let answer = try await viewer.run {
            try $0.createAnswer(to: SessionDescription(parsing: offer)).text
        }
        let received = tamper(answer)
        try await camera.run { try $0.setAnswer(SessionDescription(parsing: received)) }
    }

    static func withSockets(
        _ addresses: [String] = ["127.0.0.1", "127.0.0.1"], _ body: ([PeerSocket]) async throws -> Void
    ) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        var sockets: [PeerSocket] = []
        for address in addresses {
            sockets.append(
                try await PeerSocket.bind(
                    to: SocketAddress(ipAddress: address, port: 0), on: loop, logger: Logger(label: "test")))
        }
        do {
            try await body(sockets)
        } catch {
            for socket in sockets { await socket.close() }
            throw error
        }
        for socket in sockets { await socket.close() }
    }

    static let sections = [MediaSection(mid: "0", kind: .video, direction: .sendOnly, codecs: [MediaFixtures.h264])]

    @Test("Two sockets connect and H.264 frames arrive as they were sent", .timeLimit(.minutes(1)))
    func streamsFrames() async throws {
        try await Self.withSockets { sockets in
            let camera = try await Client(sockets[0], isControlling: true, sections: Self.sections)
            let viewer = try await Client(sockets[1], isControlling: false)
            try await Self.connect(camera, viewer)
            #expect(await camera.becomesConnected())
            #expect(await viewer.becomesConnected())
            var random = SeededGenerator(seed: 5)
            let frames = (0..<100).map { MediaFixtures.frame(MediaFixtures.h264, index: $0, using: &random) }
            try await camera.run { peer in
                var packetizer = Packetizer(codec: MediaFixtures.h264)
                for frame in frames { peer.send(try packetizer.packetize(frame), mid: "0") }
            }
            var received: [ByteBuffer] = []
            while received.count < frames.count {
                let frame = await viewer.first { if case .frame("0", let frame) = $0 { frame } else { nil } }
                received.append(try #require(frame).frame.bytes)
            }
            let isSame = received == frames.map(\.bytes)
            #expect(isSame)
            let statistics = try await viewer.run { $0.statistics }
            #expect(statistics.srtpCipher == "SRTP_AEAD_AES_128_GCM")
            #expect(statistics.inbound["0"]?.packetsLost == 0)
        }
    }

    @Test("A wrong fingerprint fails with peerFailed, and the other side sees the end", .timeLimit(.minutes(1)))
    func wrongFingerprint() async throws {
        try await Self.withSockets { sockets in
            let camera = try await Client(sockets[0], isControlling: true, sections: Self.sections)
            let viewer = try await Client(sockets[1], isControlling: false)
            let other = try PeerCertificate.generate().fingerprint.text
            let tamper = { (text: String) in
                text.split(separator: "\r\n").map { line in
                    line.hasPrefix("a=fingerprint:") ? "a=fingerprint:\(other)" : String(line)
                }.joined(separator: "\r\n")
            }
            try await Self.connect(camera, viewer, tamper: tamper)
            guard case .failed(let error)? = await camera.end() else {
                Issue.record("the connection did not fail")
                return
            }
            #expect(error.code == .peerFailed)
            #expect(await viewer.end() != nil)
        }
    }

    @Test("The other side sees close; closing a socket ends its peers", .timeLimit(.minutes(1)))
    func closes() async throws {
        try await Self.withSockets { sockets in
            let camera = try await Client(sockets[0], isControlling: true, sections: Self.sections)
            let first = try await Client(sockets[1], isControlling: false)
            try await Self.connect(camera, first)
            #expect(await camera.becomesConnected())
            try await first.run { $0.close() }
            if case .closed? = await camera.end() {} else { Issue.record("the camera's peer is not closed") }

            let again = try await Client(sockets[0], isControlling: true, sections: Self.sections)
            let second = try await Client(sockets[1], isControlling: false)
            try await Self.connect(again, second)
            #expect(await second.becomesConnected())
            #expect(await again.becomesConnected())
            await sockets[0].close()
            if case .closed? = await second.end() {} else { Issue.record("the viewer is not closed") }
            await #expect(throws: IoTError.self) {
                _ = try await Client(sockets[0], isControlling: true, sections: Self.sections)
            }
        }
    }

    @Test("One port serves many viewers at the same time, each with its own stream", .timeLimit(.minutes(1)))
    func manyViewers() async throws {
        let count = 12
        try await Self.withSockets(Array(repeating: "127.0.0.1", count: count + 1)) { sockets in
            var pairs: [(Client, Client)] = []
            for index in 1...count {
                let camera = try await Client(sockets[0], isControlling: true, sections: Self.sections)
                let viewer = try await Client(sockets[index], isControlling: false)
                try await Self.connect(camera, viewer)
                pairs.append((camera, viewer))
            }
            for (index, (camera, viewer)) in pairs.enumerated() {
                #expect(await camera.becomesConnected())
                #expect(await viewer.becomesConnected())
                var random = SeededGenerator(seed: UInt64(index))
                let frame = MediaFixtures.frame(MediaFixtures.h264, index: 0, using: &random)
                try await camera.run { peer in
                    var packetizer = Packetizer(codec: MediaFixtures.h264)
                    peer.send(try packetizer.packetize(frame), mid: "0")
                }
                let received = await viewer.first { if case .frame(_, let frame) = $0 { frame } else { nil } }
                #expect(received?.frame.bytes == frame.bytes)
            }
        }
    }

    @Test("An IPv6 socket serves IPv4 and IPv6 peers", .timeLimit(.minutes(1)))
    func dualStack() async throws {
        try await Self.withSockets(["::", "127.0.0.1", "::1"]) { sockets in
            for viewerSocket in sockets.dropFirst() {
                let camera = try await Client(sockets[0], isControlling: true, sections: Self.sections)
                // The viewer starts, because the camera's own addresses may all be of the other family here.
                let viewer = try await Client(viewerSocket, isControlling: false)
                let port = try #require(sockets[0].localAddress.port)
                let own = try #require(viewerSocket.localAddress.ipAddress)
                try await camera.run { peer in
                    peer.addHostAddress(try SocketAddress(ipAddress: own, port: port))
                }
                try await Self.connect(camera, viewer)
                #expect(await viewer.becomesConnected())
                #expect(await camera.becomesConnected())
            }
        }
    }

    @Test(
        "A candidate that the kernel refuses affects neither the socket nor its peers", .timeLimit(.minutes(1))
    )
    func survivesHostileCandidates() async throws {
        try await Self.withSockets { sockets in
            let camera = try await Client(sockets[0], isControlling: true, sections: Self.sections)
            let viewer = try await Client(sockets[1], isControlling: false)
            // A broadcast address, which is tried first: the kernel refuses to send there (EACCES).
            try await Self.connect(
                camera, viewer,
                tamperOffer: { text in
                    text.replacing(
                        "a=end-of-candidates",
                        with: "a=candidate:9 1 udp 2130706432 127.255.255.255 9 typ host\r\na=end-of-candidates")
                })
            #expect(await camera.becomesConnected())
            #expect(await viewer.becomesConnected())
            let statistics = try await sockets[1].eventLoop.submit { sockets[1].statistics }.get()
            #expect(statistics.sendErrors > 0)
            #expect(statistics.datagramsSent > 0)
        }
    }

    @Test("A run of datagrams of one size arrives one by one, in order and complete", .timeLimit(.minutes(1)))
    func segmentation() async throws {
        try await Self.withSockets { sockets in
            let camera = try await Client(sockets[0], isControlling: true, sections: Self.sections)
            let viewer = try await Client(sockets[1], isControlling: false)
            try await Self.connect(camera, viewer)
            #expect(await camera.becomesConnected())
            #expect(await viewer.becomesConnected())
            // 200 kB in fragments of one size, and a shorter last one.
            let unit = [0x65, 0x88] + [UInt8](repeating: 7, count: 200_000)
            let frame = MediaFrame(
                kind: .video, isKeyFrame: true, pts: 0, dts: 0, bytes: MediaFixtures.accessUnit([unit]))
            try await camera.run { peer in
                var packetizer = Packetizer(codec: MediaFixtures.h264)
                peer.send(try packetizer.packetize(frame), mid: "0")
            }
            let received = await viewer.first { if case .frame(_, let frame) = $0 { frame } else { nil } }
            #expect(received?.frame.bytes == frame.bytes)
            let statistics = try await viewer.run { $0.statistics }
            #expect(statistics.inbound["0"]?.packetsReceived ?? 0 >= 180)
            #expect(statistics.inbound["0"]?.packetsLost == 0)
        }
    }
}
