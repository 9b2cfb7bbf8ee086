import Foundation
import Testing

/// A TCP port of this machine at which no server answers.
final class SilentServer: Sendable {
    let port: Int
    private let descriptors: [Int32]

    /// - Parameter answers: If true, connections succeed, like those to a program that hangs. If false, they time out,
    ///   like those to an unused address.
    init(answers: Bool) throws {
        let (listener, port) = try Self.listener(backlog: answers ? 128 : 0)
        self.port = port
        // Linux drops connections when the listener's queue is full.
        descriptors = [listener] + (answers ? [] : try (0..<4).map { _ in try Self.connection(to: port) })
    }

    private static func listener(backlog: Int32) throws -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && listen(descriptor, backlog) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        try #require(isOpen)
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func connection(to port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        try #require(descriptor >= 0)
        var address = loopback(port: port)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(clamping: port).bigEndian
        return address
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
