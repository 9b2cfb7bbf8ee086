import NIOCore
import NIOPosix
import Testing

@testable import RTSP

@Suite struct DatagramPairTests {
    @Test("If the kernel chooses port 65535, which has no next port, another pair is opened")
    func lastPort() async throws {
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        let pair = try await eventLoop.flatSubmit {
            DatagramPair.open(
                near: address, from: address, eventLoop: eventLoop,
                onDatagram: NIOLoopBound({ _, _ in }, eventLoop: eventLoop), firstPort: 65_535)
        }.get()
        #expect(pair.port.isMultiple(of: 2) && pair.port > 0)
        pair.close()
    }
}
