import Glibc

/// Checks that a host name has an address. libavformat reports an unknown host only as an input/output error, like many
/// other failures.
enum HostLookup {
    /// Contains only the resolver's reason, because log lines must not contain addresses.
    struct Failure: Error, CustomStringConvertible {
        let reason: String
        var description: String { reason }
    }

    /// Blocks as long as the system's resolver blocks.
    ///
    /// - Parameter host: a name or an address; IPv6 without brackets.
    /// - Returns: the resolver's reason (gai_strerror(3)); `nil` if the host has an address.
    static func failure(of host: String) -> String? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, nil, &hints, &found)
        if let found { freeaddrinfo(found) }
        guard result != 0 else { return nil }
        return gai_strerror(result).map { String(cString: $0) } ?? "error \(result)"
    }
}
