import NIOCore

/// The addresses under which a bound socket can be reached.
enum HostAddresses {
    /// The socket's own address; for a socket on the unspecified address those of all interfaces, loopback only if
    /// there is nothing else, and without IPv6 link-local ones.
    static func of(_ local: SocketAddress) throws -> [SocketAddress] {
        guard let port = local.port, local.packedIPBytes.allSatisfy({ $0 == 0 }) else { return [local] }
        var addresses: [SocketAddress] = []
        for device in try System.enumerateDevices() {
            guard var address = device.address, !(local.isIPv4 && !address.isIPv4), !address.packedIPBytes.isEmpty
            else { continue }
            address.port = port
            if address.isReachableUnicast, !addresses.contains(address) { addresses.append(address) }
        }
        let outside = addresses.filter { !$0.isLoopback }
        return outside.isEmpty ? addresses : outside
    }
}

extension SocketAddress {
    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// An IPv6 socket shows IPv4 peers as `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2); ICE knows them as IPv4.
    var unmapped: SocketAddress {
        guard case .v6 = self else { return self }
        let bytes = packedIPBytes
        guard bytes.starts(with: Self.mappedPrefix) else { return self }
        return (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes.suffix(4)), port: port ?? 0)) ?? self
    }

    /// The same address as an IPv6 socket needs it.
    var mapped: SocketAddress {
        guard case .v4 = self else { return self }
        let bytes = Self.mappedPrefix + packedIPBytes
        return (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: port ?? 0)) ?? self
    }
}
