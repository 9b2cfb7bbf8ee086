import IoTCore

/// Scopes: URIs that describe a device.
enum WSDScope {
    /// The rule of RFC 3986 (WS-Discovery §5.1): the same scheme and authority, ignoring case, and one path is equal to
    /// the other or, by whole segments, its prefix. Query and fragment are ignored.
    static func isPrefix(_ wanted: String, of scope: String) -> Bool {
        guard let wanted = Parts(wanted), let scope = Parts(scope) else { return wanted == scope }
        return wanted.origin == scope.origin && wanted.segments.count <= scope.segments.count
            && scope.segments.starts(with: wanted.segments)
    }

    private struct Parts {
        /// Scheme and authority in lower case.
        var origin: String
        var segments: [String]

        /// `nil` for text without a scheme, or with a segment `.` or `..`.
        init?(_ text: String) {
            let bytes = Array(text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            var rest = bytes[(colon + 1)...]
            var origin = bytes[...colon]
            if rest.starts(with: [0x2F, 0x2F]) {
                let end = rest.dropFirst(2).firstIndex(of: 0x2F) ?? rest.endIndex
                origin = bytes[..<end]
                rest = rest[end...]
            }
            self.origin = String(decoding: origin, as: UTF8.self).lowercased()
            segments = rest.split(separator: 0x2F, omittingEmptySubsequences: true)
                .map { WSDScope.decoded(String(decoding: $0, as: UTF8.self)) }
            guard !segments.contains("."), !segments.contains("..") else { return nil }
        }
    }

    /// Removes percent-encoding (RFC 3986 §2.1). Invalid encodings stay unchanged.
    static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self))
            {
                bytes += value
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A path segment, with percent-encoding for all but unreserved characters.
    static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return result
    }
}
