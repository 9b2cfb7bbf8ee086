import Glibc

/// An IPv4 or IPv6 address as it is written, without a port.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// As inet_ntop(3) writes it, with `%zone` after an IPv6 link-local address of which the interface is known.
    public let description: String

    /// - Parameter text: a literal, IPv6 without brackets; a zone (RFC 4007 §11) only after an IPv6 address.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let literal = parts.first.map({ String($0) }) else { return nil }
        // As large as in6_addr, whose initializer the release build does not see without NIO's C module.
        var bytes = [UInt8](repeating: 0, count: 16)
        let family = inet_pton(AF_INET6, literal, &bytes) == 1 ? AF_INET6 : AF_INET
        guard family == AF_INET6 || parts.count == 1 && inet_pton(AF_INET, literal, &bytes) == 1 else { return nil }
        if parts.count == 2 {
            guard (1...64).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { return nil }
        }
        var written = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes, &written, socklen_t(written.count)) != nil else { return nil }
        let canonical = String(decoding: written.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        description = canonical + (parts.count == 2 ? "%\(parts[1])" : "")
    }

    public var isIPv6: Bool { description.contains(":") }

    /// 4 or 16, in network order, without the zone.
    package var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        inet_pton(isIPv6 ? AF_INET6 : AF_INET, String(description.prefix { $0 != "%" }), &bytes)
        return bytes
    }

    /// As written in a URL: IPv6 in brackets, its zone after `%25` (RFC 6874 §2).
    public var urlHost: String {
        isIPv6 ? "[\(description.replacing("%", with: "%25"))]" : description
    }

    /// Whether `text` is an IPv4 or IPv6 literal that inet_pton(3) accepts.
    package static func isValid(_ text: String) -> Bool { !text.contains("%") && IPAddress(text) != nil }

    /// Whether `text` is the unspecified address, which means every address of the machine.
    package static func isUnspecified(_ text: String) -> Bool { text == "0.0.0.0" || text == "::" }
}

/// A JSON string.
extension IPAddress: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = IPAddress(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is not an IP address")
        }
        self = address
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
