import IoTCore

/// The parsed text of a camera source: a local file or an RTSP server.
enum SourceAddress: Equatable {
    case file(path: String)
    case rtsp(url: String)

    /// - Throws: `sourceUnsupported` for every other scheme: a source must never run a program or fetch over HTTP.
    init(_ text: String) throws(IoTError) {
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw IoTError(.sourceUnsupported, "the source is empty", remedy: Self.known)
        }
        guard let scheme = Self.scheme(of: text) else {
            self = .file(path: text)
            return
        }
        switch scheme {
        case "rtsp":
            self = .rtsp(url: text)
        case "file":
            guard let path = Self.path(ofFileURL: text) else {
                throw IoTError(
                    .sourceUnsupported, "a file URL must name a local absolute path",
                    remedy: "write it as file:///path/clip.mp4")
            }
            self = .file(path: path)
        default:
            throw IoTError(
                .sourceUnsupported, "the scheme \(scheme) is not supported", remedy: Self.known)
        }
    }

    private static let known = "use a file path or an rtsp:// URL"

    var isLive: Bool {
        if case .rtsp = self { true } else { false }
    }

    /// The address for display and logs: without user name and password.
    var redacted: String {
        switch self {
        case .file(let path): path
        case .rtsp(let url): Self.redact(url)
        }
    }

    /// The host of an RTSP URL, IPv6 without brackets; `nil` for a file.
    var host: String? {
        guard case .rtsp(let url) = self, let marker = Substring(url).range(of: "://") else { return nil }
        let authority = url[marker.upperBound...].prefix { !"/?#".contains($0) }
        let start = authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex
        let host = authority[start...]
        if host.first == "[" { return String(host.dropFirst().prefix { $0 != "]" }) }
        return String(host.prefix { $0 != ":" })
    }

    /// Replaces the user information of every URL in `text` (RFC 3986 §3.2.1: do not show passwords).
    static func redact(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        while let marker = rest.range(of: "://") {
            result += rest[..<marker.upperBound]
            rest = rest[marker.upperBound...]
            let authority = rest.prefix { !"/?# \t\"'".contains($0) }
            if let at = authority.lastIndex(of: "@") {
                result += "***"
                rest = rest[at...]
            }
        }
        return result + rest
    }

    // A scheme consists of letters, digits, "+", "-", "." before "://" (RFC 3986 §3.1); any other text is a file name.
    private static func scheme(of text: String) -> String? {
        guard let marker = Substring(text).range(of: "://") else { return nil }
        let scheme = text[..<marker.lowerBound]
        guard let first = scheme.unicodeScalars.first, first.isASCII, first.properties.isAlphabetic,
            scheme.unicodeScalars.allSatisfy({
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789+-.".unicodeScalars.contains($0))
            })
        else { return nil }
        return scheme.lowercased()
    }

    private static func path(ofFileURL text: String) -> String? {
        var rest = text.dropFirst("file://".count)
        // Host names are case-insensitive (RFC 3986 §3.2.2).
        let host = "localhost"
        if rest.dropFirst(host.count).first == "/", rest.prefix(host.count).lowercased() == host {
            rest = rest.dropFirst(host.count)
        }
        guard rest.isAbsolutePath else { return nil }
        var bytes: [UInt8] = []
        var units = Array(rest.utf8)[...]
        while let unit = units.popFirst() {
            guard unit == UInt8(ascii: "%") else {
                bytes.append(unit)
                continue
            }
            guard units.count >= 2, let value = UInt8(String(decoding: units.prefix(2), as: UTF8.self), radix: 16),
                value != 0
            else { return nil }
            units = units.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension Substring {
    fileprivate func range(of marker: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(marker) {
                return start..<index(start, offsetBy: marker.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
