/// A host and a port in text form: `box.example:8883`, `[2001:db8::7]:9000`.
package struct HostPort: Sendable, Hashable, CustomStringConvertible {
    /// A name or an address (IPv6 without brackets). Not validated.
    package let host: String
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `nil` if the port is missing or not in 0–65535, or if an IPv6 address has no brackets.
    package init?(_ text: some StringProtocol) {
        let text = Substring(text)
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        self.init(host: String(host), port: Int(port))
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
