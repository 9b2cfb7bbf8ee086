/// An interface with one of the IP versions, as multicast DNS uses it.
struct LinkDescription: Hashable, Sendable {
    struct Network: Hashable, Sendable {
        /// The interface's own address, 4 or 16 bytes.
        var address: [UInt8]
        var prefixLength: Int

        func contains(_ other: [UInt8]) -> Bool {
            guard other.count == address.count else { return false }
            let bytes = min(prefixLength / 8, address.count)
            guard other[..<bytes] == address[..<bytes] else { return false }
            let bits = prefixLength % 8
            guard bits > 0, bytes < address.count else { return true }
            return (other[bytes] ^ address[bytes]) >> (8 - bits) == 0
        }
    }

    var id: ServiceLink
    /// The interface's name.
    var name: String
    /// The addresses of both IP versions: each link announces both.
    var networks: [Network]

    /// Whether a sender is on the link (RFC 6762 §11).
    func contains(_ address: [UInt8]) -> Bool {
        Self.isLinkLocal(address) || networks.contains { $0.contains(address) }
    }

    private static func isLinkLocal(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: address[0] == 169 && address[1] == 254
        case 16: address[0] == 0xFE && address[1] & 0xC0 == 0x80
        default: false
        }
    }
}
