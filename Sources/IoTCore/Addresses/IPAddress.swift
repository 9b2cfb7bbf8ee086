import Glibc

/// Checks of address literals.
package enum IPAddress {
    /// An IPv4 or IPv6 literal, as inet_pton(3) reads it.
    package static func isValid(_ text: String) -> Bool {
        // As large as in6_addr, whose initializer the release build does not see without NIO's C module.
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }

    /// Stands for every address of the machine.
    package static func isUnspecified(_ text: String) -> Bool { text == "0.0.0.0" || text == "::" }
}
