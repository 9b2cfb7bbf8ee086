import Glibc

/// Checks address literals.
package enum IPAddress {
    /// Whether `text` is an IPv4 or IPv6 literal that inet_pton(3) accepts.
    package static func isValid(_ text: String) -> Bool {
        // The size of in6_addr. Its initializer is not visible in the release build without NIO's C module.
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }

    /// Whether `text` is the unspecified address, which means every address of the machine.
    package static func isUnspecified(_ text: String) -> Bool { text == "0.0.0.0" || text == "::" }
}
