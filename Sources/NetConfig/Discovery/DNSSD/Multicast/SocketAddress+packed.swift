import NIOCore

extension SocketAddress {
    /// 4 or 16 bytes; `nil` of a Unix socket.
    var packedBytes: [UInt8]? {
        // Where sockaddr_in and sockaddr_in6 have them; the structures' own module is NIO's (ip(7), ipv6(7)).
        let place: Range<Int>
        switch self {
        case .v4: place = 4..<8
        case .v6: place = 8..<24
        case .unixDomainSocket: return nil
        }
        return withSockAddr { pointer, size in Array(UnsafeRawBufferPointer(start: pointer, count: size)[place]) }
    }
}
