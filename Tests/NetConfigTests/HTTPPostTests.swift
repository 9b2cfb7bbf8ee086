import Foundation
import IoTCore
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import NetConfig

@Suite(.timeLimit(.minutes(1))) struct HTTPPostTests {
    /// A port whose server is too busy to accept connections, and its sockets.
    private func busyServer() throws -> (port: Int, sockets: [Int32]) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        func withAddress(_ call: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Int32 {
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0) }
            }
        }
        try #require(withAddress { bind(server, $0, size) } == 0)
        try #require(listen(server, 0) == 0)
        try #require(withAddress { getsockname(server, $0, &size) } == 0)
        // Its queue is full after these.
        let clients = (0..<4).map { _ in
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            _ = withAddress { connect(client, $0, size) }
            return client
        }
        return (Int(UInt16(bigEndian: address.sin_port)), [server] + clients)
    }

    @Test("A request that is cancelled while it connects ends at once", arguments: [false, true])
    func cancelled(isStream: Bool) async throws {
        let (port, sockets) = try busyServer()
        defer { for socket in sockets { close(socket) } }
        let body = isStream ? HTTPPost.Body.stream(size: 1) { _ in ByteBuffer(bytes: [0]) } : .bytes(ByteBuffer())
        let url = try #require(ServiceURL("http://127.0.0.1:\(port)/"))
        let post = HTTPPost(url, headers: [:], body: body, maximumAnswer: 1_000)
        let sending = Task {
            // Longer than this test may take.
            try await post.send(on: MultiThreadedEventLoopGroup.singleton.next(), timeout: .minutes(10))
        }
        await Task.yield()
        sending.cancel()
        await #expect(throws: (any Error).self) { try await sending.value }
    }
}
