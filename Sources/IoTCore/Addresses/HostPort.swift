/// A host and a port as they are written: `box.example:8883`, `[2001:db8::7]:9000`.
package struct HostPort: Sendable, Hashable, CustomStringConvertible {
    /// A name or an address, of IPv6 without its brackets. Not checked.
    package let host: String
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `nil` without a port from 0 to 65535, and for IPv6 without its brackets.
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
