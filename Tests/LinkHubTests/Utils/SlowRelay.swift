import Foundation
import Glibc
import IoTCore
import Synchronization

/// A TCP port of 127.0.0.1 with a queue that is full at first, so that a connection takes as long as over a slow
/// network (a second: the kernel sends its SYN again). It then relays connections to another port.
final class SlowRelay: Sendable {
    let port: Int
    private let listener: Int32
    private let delay: Delay

    /// Shared with the relay's thread, which may outlive the relay.
    private final class Delay: Sendable {
        let isOver = Atomic(false)
    }

    /// Whether a connection that is open now had to wait.
    var hasDelayed: Bool { delay.isOver.load(ordering: .acquiring) }

    init(to target: Int) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound, listen(listener, 0) == 0 else { throw IoTError(.internalFailure, "no relay") }
        port = Int(UInt16(bigEndian: address.sin_port))
        let fillers = [Self.connect(port), Self.connect(port)]
        let delay = Delay()
        self.delay = delay
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.3)
            delay.isOver.store(true, ordering: .releasing)
            for filler in fillers { close(filler) }
            // The fillers are accepted first, and end at once.
            while case let client = accept(listener, nil, nil), client >= 0 {
                let server = Self.connect(target, isBlocking: true)
                Thread.detachNewThread { Self.copy(server, client) }
                Thread.detachNewThread { Self.copy(client, server) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func copy(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = recv(from, &buffer, buffer.count, 0), count > 0 {
            guard send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(to, Int32(SHUT_WR))
    }

    private static func connect(_ port: Int, isBlocking: Bool = false) -> Int32 {
        let kind = SOCK_STREAM.rawValue | (isBlocking ? 0 : SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_INET, Int32(kind), 0)
        var address = address(port: port)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(clamping: port).bigEndian
        return address
    }
}
