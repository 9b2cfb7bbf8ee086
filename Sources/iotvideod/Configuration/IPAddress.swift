import Glibc

/// Checks of address literals.
enum IPAddress {
    /// An IPv4 or IPv6 literal, as inet_pton(3) reads it.
    static func isValid(_ text: String) -> Bool {
        // As large as in6_addr, whose initializer the release build does not see without NIO's C module.
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }

    /// Stands for every address of the machine.
    static func isUnspecified(_ text: String) -> Bool { text == "0.0.0.0" || text == "::" }

    /// Whether a socket of this machine can have the address; true where that cannot be told.
    static func isLocal(_ text: String) -> Bool {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, "0", &hints, &found) == 0, let address = found else { return true }
        defer { freeaddrinfo(address) }
        let descriptor = socket(address.pointee.ai_family, address.pointee.ai_socktype, 0)
        guard descriptor >= 0 else { return errno != EAFNOSUPPORT }
        defer { close(descriptor) }
        return bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 || errno != EADDRNOTAVAIL
    }
}
