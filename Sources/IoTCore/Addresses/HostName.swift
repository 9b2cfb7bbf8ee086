/// Checks of names of hosts.
package enum HostName {
    /// Letters, digits and hyphens between dots (RFC 1123 §2.1), or an address; 253 bytes at most.
    package static func isValid(_ text: String) -> Bool {
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
