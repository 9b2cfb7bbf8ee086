/// Checks of names of hosts.
enum HostName {
    /// Letters, digits and hyphens between dots (RFC 1123 §2.1), or an address; 253 bytes at most.
    static func isValid(_ text: String) -> Bool {
        if IPAddress.isValid(text) { return true }
        guard (1...253).contains(text.utf8.count) else { return false }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        let areLabels = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.unicodeScalars.allSatisfy {
                    $0.isASCII && ($0.properties.isAlphabetic || isDigit($0) || $0 == "-")
                }
        }
        // What ends in digits alone is an address that was mistyped.
        return areLabels && !(labels.last ?? "").unicodeScalars.allSatisfy(isDigit)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        ("0"..."9").contains(scalar)
    }
}

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
