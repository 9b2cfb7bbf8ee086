package import Glibc

/// Checks whether a process listens, and which one.
package enum LoopbackProbe {
    static func canConnect(to endpoint: BrokerEndpoint) -> Bool {
        switch endpoint {
        case .unixSocket(let path): listener(atSocket: path) != nil
        case .loopback(let port): connected(AF_INET, loopbackAddress(port: port), flags: 0) { _ in true } ?? false
        }
    }

    /// The process that listens at a Unix socket, as the kernel recorded it at listen(2) (unix(7), SO_PEERCRED). `nil`
    /// if none listens, 0 if its queue is full. Never blocks.
    package static func listener(atSocket path: String) -> pid_t? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let flags = Int32(SOCK_NONBLOCK.rawValue)
        let listener = connected(AF_UNIX, address, flags: flags) { descriptor in
            // `struct ucred`, which Glibc declares for _GNU_SOURCE only: process, user, group.
            var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
            var length = socklen_t(MemoryLayout.size(ofValue: credentials))
            let result = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
            return result == 0 ? credentials.0 : 0
        }
        return listener ?? (errno == EAGAIN ? 0 : nil)
    }

    /// A TCP port of 127.0.0.1 that is free at this moment; `nil` if there is none.
    static func freePort() -> Int? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var address = loopbackAddress(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    private static func loopbackAddress(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(clamping: port).bigEndian
        return address
    }

    /// The result of `body` for a socket that is connected to the address; `nil` if no process listens there.
    private static func connected<Address, Found>(
        _ family: Int32, _ address: Address, flags: Int32, _ body: (Int32) -> Found
    ) -> Found? {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags, 0)
        guard descriptor >= 0 else { return nil }
        defer {
            let reason = errno
            close(descriptor)
            errno = reason
        }
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        return result == 0 ? body(descriptor) : nil
    }
}
