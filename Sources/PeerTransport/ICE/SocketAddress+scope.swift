import NIOCore

// The scope of an address: from where it can be reached, and who may make us contact it.
extension SocketAddress {
    /// True for addresses that are unique only within one network: RFC 1918, RFC 6598, RFC 3927, RFC 4193, and
    /// loopback.
    var isPrivate: Bool {
        let bytes = packedIPBytes
        if bytes.count == 4 { return Self.isPrivate(ipv4: bytes[...]) }
        return isLoopback || bytes.count == 16 && bytes[0] & 0xFE == 0xFC
    }

    /// Like `isPrivate`; for an IPv6 address that embeds an IPv4 address, the embedded address counts as well.
    var leadsToPrivate: Bool {
        let bytes = packedIPBytes
        return isPrivate || bytes.count == 16 && Self.embedded(in: bytes).contains(where: Self.isPrivate)
    }

    private static func isPrivate(ipv4 bytes: ArraySlice<UInt8>) -> Bool {
        let second = bytes[bytes.startIndex + 1]
        return switch bytes[bytes.startIndex] {
        case 10, 127: true
        case 100: second & 0xC0 == 64
        case 169: second == 254
        case 172: second & 0xF0 == 16
        case 192: second == 168
        default: false
        }
    }

    /// False for addresses that must never be used at a stranger's request: without a port, unspecified, multicast,
    /// broadcast; IPv6 link-local ones, which are meaningless without an interface; and IPv4 addresses in IPv6 form,
    /// which ICE must not use (RFC 8445 §5.1.1.1).
    var isReachableUnicast: Bool {
        guard let port, port > 0 else { return false }
        let bytes = packedIPBytes
        guard bytes.contains(where: { $0 != 0 }) else { return false }
        if bytes.count == 4 { return bytes[0] != 0 && bytes[0] < 224 }
        if bytes.starts(with: Self.mapped) || bytes.starts(with: Self.compatible) && !isLoopback { return false }
        return bytes[0] != 0xFF && !(bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
    }

    /// True for this machine, its link, and multicast groups. Others must not make us contact these, whether by naming
    /// them as a server, by a name that resolves to them, or by a redirect.
    ///
    /// For an IPv6 address that embeds an IPv4 address, the embedded address counts as well.
    var isThisMachineOrLink: Bool {
        let bytes = packedIPBytes
        guard bytes.count == 16 else { return bytes.count != 4 || Self.isThisMachineOrLink(ipv4: bytes[...]) }
        if isLoopback || bytes.allSatisfy({ $0 == 0 }) || bytes[0] == 0xFF { return true }
        // fe80::/10, and fec0::/10, which RFC 3879 deprecated.
        if bytes[0] == 0xFE, bytes[1] & 0x80 == 0x80 { return true }
        return Self.embedded(in: bytes).contains(where: Self.isThisMachineOrLink)
    }

    private static func isThisMachineOrLink(ipv4 bytes: ArraySlice<UInt8>) -> Bool {
        let (first, second) = (bytes[bytes.startIndex], bytes[bytes.startIndex + 1])
        // On Linux, 0.0.0.0/8 is this machine; 224 and above are multicast, reserved, and broadcast.
        return first == 0 || first == 127 || first == 169 && second == 254 || first >= 224
    }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    private static let compatible: [UInt8] = Array(repeating: 0, count: 12)

    /// The IPv4 addresses that an IPv6 address embeds, in all known forms.
    private static func embedded(in bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        let last = bytes[12...]
        // RFC 4291 §2.5.5: mapped and compatible. RFC 2765 §2.1: translated. RFC 6052 §2.1: NAT64.
        let wholes: [[UInt8]] = [
            mapped, compatible, [0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0],
            [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
        if wholes.contains(where: bytes.starts) { return [last] }
        // RFC 8215: NAT64 of the local network, with a prefix of 48 bits or of 96.
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 1]) { return [last, bytes[6...7] + bytes[9...10]] }
        // RFC 3056: 6to4.
        if bytes.starts(with: [0x20, 0x02]) { return [bytes[2...5]] }
        // RFC 4380 §4: Teredo's server, and its client with all bits inverted.
        if bytes.starts(with: [0x20, 0x01, 0, 0]) { return [bytes[4...7], ArraySlice(last.map { ~$0 })] }
        return []
    }
}
