/// A service's URL from a device: `http`, `https`, `rtsp` or `rtsps`, a host, an optional port, a path.
package struct ServiceURL: Hashable, Sendable {
    package var scheme: String
    /// A name, or an address without brackets.
    package var host: String
    package var port: Int?
    /// With its slash and the query.
    package var path: String

    package static let maximumSize = 512
    package static let schemes = ["http", "https", "rtsp", "rtsps"]

    /// - Parameters:
    ///   - zone: The interface's zone, for an IPv6 link-local address without one.
    ///   - maximumSize: The largest accepted text, in bytes.
    ///   - checksName: Whether a host name must follow RFC 1123. Names in users' networks may contain an underscore.
    package init?(
        _ text: String, zone: String? = nil, maximumSize: Int = Self.maximumSize, checksName: Bool = true
    ) {
        let isPrintable = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard text.utf8.count <= maximumSize, isPrintable, let colon = text.firstIndex(of: ":") else { return nil }
        scheme = text[..<colon].lowercased()
        let rest = text[colon...]
        guard Self.schemes.contains(scheme), rest.hasPrefix("://") else { return nil }
        let afterScheme = rest.dropFirst(3)
        let authority = afterScheme.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let tail = afterScheme.dropFirst(authority.count).prefix { $0 != "#" }
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
        // A user name in the URL is ignored.
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let portText: Substring
        if place.hasPrefix("[") {
            let literal = place.dropFirst().prefix { $0 != "]" }
            guard place.dropFirst(literal.count + 1).hasPrefix("]"),
                let address = IPAddress(literal.replacing("%25", with: "%")), address.isIPv6
            else { return nil }
            host = address.zoned(zone).description
            portText = place.dropFirst(literal.count + 2)
        } else {
            let name = place.prefix { $0 != ":" }
            host = name.lowercased()
            portText = place.dropFirst(name.count)
            guard HostName.isValid(host) || !checksName && !host.isEmpty else { return nil }
        }
        if portText.isEmpty || portText == ":" { return }
        guard portText.hasPrefix(":"), let port = UInt16(portText.dropFirst()), port > 0 else { return nil }
        self.port = Int(port)
    }

    package var portOrDefault: Int {
        port ?? (["http": 80, "https": 443, "rtsp": 554, "rtsps": 322][scheme] ?? 0)
    }

    /// `nil` for a host name.
    package var address: IPAddress? { IPAddress(host) }

    package var text: String {
        "\(scheme)://\(address?.urlHost ?? host)\(port.map { ":\($0)" } ?? "")\(path)"
    }
}

extension IPAddress {
    /// The interface after `%`.
    package var zone: String? {
        description.firstIndex(of: "%").map { String(description[description.index(after: $0)...]) }
    }

    /// fe80::/10
    package var isLinkLocal: Bool {
        isIPv6 && ["fe8", "fe9", "fea", "feb"].contains { description.lowercased().hasPrefix($0) }
    }

    /// False for addresses that cannot be reached: unspecified, loopback, multicast.
    package var isUsable: Bool {
        let text = description
        if isIPv6 { return text != "::" && text != "::1" && !text.hasPrefix("ff") }
        let first = text.split(separator: ".").first.flatMap { UInt8($0) } ?? 0
        return first != 0 && first != 127 && first < 224
    }

    /// With this zone, if it is link-local and has none.
    package func zoned(_ zone: String?) -> IPAddress {
        guard let zone, isLinkLocal, self.zone == nil else { return self }
        return IPAddress("\(description)%\(zone)") ?? self
    }
}
