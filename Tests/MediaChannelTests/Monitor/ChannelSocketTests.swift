import IoTCore
import Logging
import NIOCore
import NIOPosix
import PeerTransport
import Testing

@testable import MediaChannel

@Suite("The sockets of a gateway's channels")
struct ChannelSocketTests {
    @Test("A second channel to one device has its own port on the same address and loop until it closes")
    func own() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let logger = Logger(label: "test")
        let shared = try await PeerSocket.bind(to: .init(ipAddress: "127.0.0.1", port: 0), on: loop, logger: logger)
        let first = ChannelSocket(shared: shared, isOwn: false, logger: logger)
        let second = ChannelSocket(shared: shared, isOwn: true, logger: logger)
        #expect(try await first.open() === shared)
        let own = try await second.open()
        #expect(own !== shared && own.localAddress.port != shared.localAddress.port)
        #expect(own.localAddress.ipAddress == "127.0.0.1" && own.eventLoop === shared.eventLoop)
        #expect(try await second.open() === own)
        await first.close()
        await second.close()
        let certificate = try PeerCertificate.generate()
        let configuration = PeerConfiguration(hostAddresses: [], isControlling: false)
        try await loop.submit {
            #expect(throws: IoTError.self) {
                try own.makePeer(configuration: configuration, certificate: certificate) { _ in }
            }
            let peer = try shared.makePeer(configuration: configuration, certificate: certificate) { _ in }
            peer.close()
        }.get()
        await #expect(throws: IoTError.self) { try await second.open() }
        await shared.close()
    }
}
