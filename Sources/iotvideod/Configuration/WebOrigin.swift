import IoTCore

/// Checks of origins as browsers send them (RFC 6454 §6.1).
enum WebOrigin {
    static func isValid(_ text: String) -> Bool {
        for scheme in ["https://", "http://"] where text.lowercased().hasPrefix(scheme) {
            var host = text.dropFirst(scheme.count)
            if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") {
                guard let port = UInt16(host[host.index(after: colon)...]), port > 0 else { return false }
                host = host[..<colon]
            }
            if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            return HostName.isValid(String(host))
        }
        return false
    }
}
