import IoTCore
package import NIOCore

/// The address of a connection, reduced to what distinguishes clients.
package struct RemoteAddress: QuotaHolder {
    /// A prefix of the address: 4 bytes for IPv4, the first 8 for IPv6, where one client has a /64 network (RFC 6177);
    /// empty for a Unix socket.
    private let prefix: [UInt8]

    package var isPrivileged: Bool { false }

    package static let local = RemoteAddress(prefix: [])

    private init(prefix: [UInt8]) { self.prefix = prefix }

    package init(_ address: SocketAddress?) {
        // sockaddr_in has the address after family and port, sockaddr_in6 also after the flow label (ip(7), ipv6(7)).
        let bytes = address?.withSockAddr { Array(UnsafeRawBufferPointer(start: $0, count: $1)) } ?? []
        switch address {
        case .v4: self.init(version4: Array(bytes.dropFirst(4).prefix(4)))
        case .v6:
            let address = Array(bytes.dropFirst(8).prefix(16))
            let isMapped = address.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
            if isMapped {
                self.init(version4: Array(address.suffix(4)))
            } else {
                self.init(prefix: Array(address.prefix(8)))
            }
        case .unixDomainSocket, nil: self = .local
        }
    }

    /// The 2²⁴ loopback addresses of this machine count as one client.
    private init(version4 address: [UInt8]) {
        prefix = address.first == 127 ? [127] : address
    }
}
