import Glibc

/// Whether a host's name has an address. libavformat reports one without as an input/output error, and so like many
/// other failures.
enum HostLookup {
    /// The resolver's reason alone: log lines do not name addresses.
    struct Failure: Error, CustomStringConvertible {
        let reason: String
        var description: String { reason }
    }

    /// Blocks for as long as the system's resolver does.
    ///
    /// - Parameter host: a name or an address; of IPv6 without its brackets.
    /// - Returns: the resolver's reason (gai_strerror(3)); `nil` for a host with an address.
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
