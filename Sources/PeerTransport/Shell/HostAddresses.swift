package import NIOCore

/// The addresses at which a bound socket can be reached.
///
/// For a socket on the unspecified address these are the interfaces' addresses, by these rules:
/// - loopback addresses only if there are no others;
/// - no IPv6 link-local addresses, which are meaningless without an interface, and IPv4 ones (169.254.0.0/16) only if
///   there are no others;
/// - addresses of interfaces for containers or virtual machines (`isInternal`) only if there are no others, because the
///   peer's network may use the same addresses;
/// - by precedence (RFC 6724 §2.1), with the two families alternating (RFC 8421 §4), so that broken IPv6 does not delay
///   the checks of IPv4.
package enum HostAddresses {
    package static func of(_ local: SocketAddress) throws -> [SocketAddress] {
        guard let port = local.port, local.packedIPBytes.allSatisfy({ $0 == 0 }) else { return [local] }
        var found: [Interface] = []
        for device in try System.enumerateDevices() {
            guard var address = device.address, !(local.isIPv4 && !address.isIPv4), !address.packedIPBytes.isEmpty
            else { continue }
            address.port = port
            found.append(Interface(name: device.name, address: address))
        }
        return choose(found)
    }

    struct Interface {
        var name: String
        var address: SocketAddress
    }

    static func choose(_ interfaces: [Interface]) -> [SocketAddress] {
        let usable = interfaces.filter { $0.address.isReachableUnicast }
        let tests: [(Interface) -> Bool] = [
            { !$0.address.isLoopback && !isInternal($0.name) && !$0.address.isIPv4LinkLocal },
            { !$0.address.isLoopback && !isInternal($0.name) },
            { !$0.address.isLoopback },
            { _ in true },
        ]
        var addresses: [SocketAddress] = []
        for test in tests where addresses.isEmpty {
            for interface in usable where test(interface) && !addresses.contains(interface.address) {
                addresses.append(interface.address)
            }
        }
        return interleaved(addresses)
    }

    /// The interfaces that may lead to a peer.
    static func devices() -> [NIONetworkDevice] {
        ((try? System.enumerateDevices()) ?? []).filter { !isInternal($0.name) }
    }

    /// True for interface names that container and virtual machine software uses for its bridges and their ends.
    static func isInternal(_ name: String) -> Bool {
        let prefixes = [
            "docker", "veth", "virbr", "vnet", "lxcbr", "lxdbr", "podman", "cni", "flannel", "cali", "cilium", "kube-",
            "tunl", "weave", "vmnet", "vboxnet",
        ]
        if prefixes.contains(where: name.hasPrefix) { return true }
        // Docker's own networks. Names like br-lan belong to routers.
        let digits = name.dropFirst(3)
        return name.hasPrefix("br-") && digits.utf8.count == 12 && digits.allSatisfy(\.isHexDigit)
    }

    /// Sorts by precedence, best first, then alternates the families.
    private static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        // Swift's sort is not guaranteed to be stable, so the offset is part of the key.
        let sorted = addresses.enumerated().sorted { left, right in
            (right.element.precedence, left.offset) < (left.element.precedence, right.offset)
        }.map(\.element)
        guard let first = sorted.first else { return [] }
        var leading = sorted.filter { $0.isIPv4 == first.isIPv4 }[...]
        var other = sorted.filter { $0.isIPv4 != first.isIPv4 }[...]
        var result: [SocketAddress] = []
        while !leading.isEmpty || !other.isEmpty {
            if let next = leading.popFirst() { result.append(next) }
            if let next = other.popFirst() { result.append(next) }
        }
        return result
    }
}

extension SocketAddress {
    var isIPv4LinkLocal: Bool {
        let bytes = packedIPBytes
        return bytes.count == 4 && bytes[0] == 169 && bytes[1] == 254
    }

    /// The default precedence table of RFC 6724 §2.1.
    var precedence: Int {
        let bytes = packedIPBytes
        guard bytes.count == 16 else { return 35 }
        if isLoopback { return 50 }
        // In this order: fc00::/7, 2002::/16, 2001::/32 and fec0::/10.
        if bytes[0] & 0xFE == 0xFC { return 3 }
        if bytes[0] == 0x20, bytes[1] == 0x02 { return 30 }
        if bytes[0] == 0x20, bytes[1] == 0x01, bytes[2] == 0, bytes[3] == 0 { return 5 }
        if bytes[0] == 0xFE, bytes[1] & 0xC0 == 0xC0 { return 1 }
        return 40
    }

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// An IPv6 socket reports IPv4 peers as `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2); ICE uses the IPv4 form.
    var unmapped: SocketAddress {
        guard case .v6 = self else { return self }
        let bytes = packedIPBytes
        guard bytes.starts(with: Self.mappedPrefix) else { return self }
        return (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes.suffix(4)), port: port ?? 0)) ?? self
    }

    /// The form of the address that an IPv6 socket needs.
    var mapped: SocketAddress {
        guard case .v4 = self else { return self }
        let bytes = Self.mappedPrefix + packedIPBytes
        return (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: port ?? 0)) ?? self
    }
}
