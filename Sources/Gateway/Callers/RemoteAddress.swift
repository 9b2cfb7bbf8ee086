import IoTCore
package import NIOCore

/// Whence a connection comes, as far as one party is told from another.
package struct RemoteAddress: QuotaHolder {
    /// Of the address: 4 bytes of IPv4, the first 8 of IPv6, where one party has a network of 2⁶⁴ (RFC 6177); none at
    /// a Unix socket.
    private let prefix: [UInt8]

    package var isPrivileged: Bool { false }

    package static let local = RemoteAddress(prefix: [])

    private init(prefix: [UInt8]) { self.prefix = prefix }

    package init(_ address: SocketAddress?) {
        // sockaddr_in holds the address after family and port; sockaddr_in6 after the flow label too (ip(7), ipv6(7)).
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

    /// This machine has 2²⁴ of them, which are one party.
    private init(version4 address: [UInt8]) {
        prefix = address.first == 127 ? [127] : address
    }
}
