import Glibc
import NIOCore

/// A UDP socket for multicast DNS on one link: it shares port 5353 with other programs, and is bound to its interface,
/// so it receives only the interface's packets.
enum MulticastSocket {
    struct Failure: Error, CustomStringConvertible {
        let call: String
        let number: CInt

        var description: String { "\(call): \(String(cString: strerror(number)))" }
    }

    static let groups = (v4: "224.0.0.251", v6: "ff02::fb")
    /// RFC 6762 §11.
    private static let hopLimit: CInt = 255

    /// The group's address for sending on this link.
    static func group(_ link: ServiceLink) throws -> SocketAddress {
        guard link.isIPv6 else { return try SocketAddress(ipAddress: groups.v4, port: Transmission.port) }
        return try SocketAddress(ipAddress: groups.v6, port: Transmission.port)
    }

    static func open(_ link: LinkDescription) throws -> CInt {
        let family = link.id.isIPv6 ? AF_INET6 : AF_INET
        let descriptor = socket(
            family, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", number: errno) }
        do {
            try set(descriptor, SOL_SOCKET, SO_REUSEADDR, CInt(1))
            try set(descriptor, SOL_SOCKET, SO_REUSEPORT, CInt(1))
            // Since Linux 5.7 this does not need a privilege.
            try set(descriptor, SOL_SOCKET, SO_BINDTODEVICE, Array(link.name.utf8))
            if link.id.isIPv6 {
                try joinIPv6(descriptor, link)
            } else {
                try joinIPv4(descriptor, link)
            }
            let any = try SocketAddress(ipAddress: link.id.isIPv6 ? "::" : "0.0.0.0", port: Transmission.port)
            guard any.withSockAddr({ bind(descriptor, $0, socklen_t($1)) }) == 0 else {
                throw Failure(call: "bind", number: errno)
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func joinIPv4(_ descriptor: CInt, _ link: LinkDescription) throws {
        let level = CInt(IPPROTO_IP)
        // struct ip_mreqn: the group, an address (any), the interface's index.
        let membership = [224, 0, 0, 251, 0, 0, 0, 0] + bytes(CInt(link.id.interface))
        try set(descriptor, level, IP_ADD_MEMBERSHIP, membership)
        try set(descriptor, level, IP_MULTICAST_IF, membership)
        try set(descriptor, level, IP_MULTICAST_TTL, hopLimit)
        try set(descriptor, level, IP_TTL, hopLimit)
        // Other programs of this machine must also receive our packets.
        try set(descriptor, level, IP_MULTICAST_LOOP, CInt(1))
    }

    private static func joinIPv6(_ descriptor: CInt, _ link: LinkDescription) throws {
        let level = CInt(IPPROTO_IPV6)
        try set(descriptor, level, IPV6_V6ONLY, CInt(1))
        // struct ipv6_mreq: the group, the interface's index.
        let membership = [0xFF, 0x02] + [UInt8](repeating: 0, count: 13) + [0xFB] + bytes(CInt(link.id.interface))
        // IPV6_JOIN_GROUP has this name in Linux's own headers.
        try set(descriptor, level, IPV6_ADD_MEMBERSHIP, membership)
        try set(descriptor, level, IPV6_MULTICAST_IF, CInt(link.id.interface))
        try set(descriptor, level, IPV6_MULTICAST_HOPS, hopLimit)
        try set(descriptor, level, IPV6_UNICAST_HOPS, hopLimit)
        try set(descriptor, level, IPV6_MULTICAST_LOOP, CInt(1))
    }

    private static func bytes(_ value: CInt) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    private static func set(_ descriptor: CInt, _ level: CInt, _ name: CInt, _ value: CInt) throws {
        try set(descriptor, level, name, bytes(value))
    }

    private static func set(_ descriptor: CInt, _ level: CInt, _ name: CInt, _ value: [UInt8]) throws {
        guard setsockopt(descriptor, level, name, value, socklen_t(value.count)) == 0 else {
            throw Failure(call: "setsockopt \(level) \(name)", number: errno)
        }
    }

    /// Whether the kernel accepted the packet. Otherwise it is lost, like any other packet.
    @discardableResult
    static func send(_ bytes: [UInt8], to address: SocketAddress, through descriptor: CInt) -> Bool {
        let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
        return address.withSockAddr { sendto(descriptor, bytes, bytes.count, flags, $0, socklen_t($1)) } == bytes.count
    }
}
