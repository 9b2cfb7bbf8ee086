/// Checks host names.
package enum HostName {
    /// Whether `text` is an IP address or a host name: letters, digits and hyphens between dots (RFC 1123 §2.1), at
    /// most 253 bytes.
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
        // A name with a last label of digits only is a mistyped address.
        return areLabels && !(labels.last ?? "").unicodeScalars.allSatisfy(isDigit)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        ("0"..."9").contains(scalar)
    }
}
