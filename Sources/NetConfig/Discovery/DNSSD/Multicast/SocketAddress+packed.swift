import NIOCore

extension SocketAddress {
    /// 4 or 16 bytes; `nil` for a Unix socket.
    var packedBytes: [UInt8]? {
        // The offsets in sockaddr_in and sockaddr_in6; NIO hides the structures' module (ip(7), ipv6(7)).
        let place: Range<Int>
        switch self {
        case .v4: place = 4..<8
        case .v6: place = 8..<24
        case .unixDomainSocket: return nil
        }
        return withSockAddr { pointer, size in Array(UnsafeRawBufferPointer(start: pointer, count: size)[place]) }
    }
}
