/// Resolves the URLs of requests (RFC 2326 §C.1.1).
package enum ControlURL {
    /// The base of relative URLs in a description: `Content-Base`, else `Content-Location`, else the requested URL.
    package static func base(of headers: RTSPHeaders, requested: String) -> String {
        for name in [RTSPHeaderName.contentBase, RTSPHeaderName.contentLocation] {
            guard let text = headers[name], !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { continue }
            if isAbsolute(text) { return atHost(of: requested, text) }
            // Quirk 11: Anjvision cameras write no scheme (scottlamb/moonfire-nvr#356).
            let scheme = requested.utf8.starts(with: "rtsps:".utf8) ? "rtsps://" : "rtsp://"
            let isSchemeless = text.utf8.first != UInt8(ascii: "/") && !text.contains("://")
            if isSchemeless { return atHost(of: requested, scheme + text) }
        }
        return requested
    }

    /// The URL of a track, or of the whole stream.
    ///
    /// The text is appended to the base, even after a query. This differs from RFC 3986 §5.2, but live555 and FFmpeg do
    /// it, and cameras expect it (scottlamb/retina#9).
    ///
    /// - Parameter control: The value of `a=control`; `nil` without it.
    package static func resolve(_ control: String?, base: String) -> String {
        guard let control, !control.isEmpty, control != "*" else { return base }
        guard control.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return base }
        if isAbsolute(control) { return atHost(of: base, control) }
        let needsSlash = ![UInt8(ascii: "/"), UInt8(ascii: "?")].contains(control.utf8.first)
        let hasSlash = base.utf8.last == UInt8(ascii: "/")
        if control.utf8.first == UInt8(ascii: "/"), hasSlash { return base.dropLast() + control }
        return base + (needsSlash && !hasSlash ? "/" : "") + control
    }

    static func isAbsolute(_ text: String) -> Bool {
        guard let range = scheme(text) else { return false }
        return ["rtsp", "rtsps"].contains(range.lowercased())
    }

    /// The URL with the host of the base. A camera behind NAT names an address of its own network, and the login is
    /// only for the configured host.
    private static func atHost(of base: String, _ text: String) -> String {
        String(origin(base) + tail(text))
    }

    /// `rtsp://host:port`
    static func origin(_ text: String) -> Substring { Substring(text.utf8.prefix(originLength(text))) }

    private static func tail(_ text: String) -> Substring { Substring(text.utf8.dropFirst(originLength(text))) }

    private static func originLength(_ text: String) -> Int {
        guard let scheme = scheme(text) else { return 0 }
        let start = scheme.utf8.count + 3
        let authority = text.utf8.dropFirst(start).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        return start + authority.count
    }

    /// The letters before `://`.
    private static func scheme(_ text: String) -> Substring? {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard (1...8).contains(scheme.count), text.utf8.dropFirst(scheme.count).starts(with: "://".utf8) else {
            return nil
        }
        return Substring(scheme)
    }
}
