import Glibc

/// Checks of address literals.
enum IPAddress {
    /// An IPv4 or IPv6 literal, as inet_pton(3) reads it.
    static func isValid(_ text: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }
}
