import IoTCore

/// From where the API may be used over TCP, beside the bearer token.
struct APIAccess: Sendable, Equatable {
    /// Host names under which the API answers, beside addresses and `localhost`.
    var names: [String] = []
    /// `https://HOST[:PORT]` of pages that may call it.
    var allowedOrigins: [String] = []

    /// A name that someone else's resolver points here (DNS rebinding) is not one of ours.
    ///
    /// - Throws: 25005.
    func checkHost(_ host: String?) throws(IoTError) {
        guard let host, let name = ASCII.lowercased(host).flatMap(Self.name) else {
            throw IoTError(
                .forbidden, "the Host field is missing or damaged", remedy: "send the host that was asked for")
        }
        let isKnown =
            name == "localhost" || IPAddress.isValid(name) || names.contains { ASCII.lowercased($0) == name }
        guard isKnown else {
            throw IoTError(
                .forbidden, "the API does not answer under the name '\(name.prefix(64))'", remedy: "add it to api.names"
            )
        }
    }

    /// What a browser sends on behalf of a page of another site.
    ///
    /// - Returns: whether it is an allowed origin that needs CORS fields in the answer.
    /// - Throws: 25005.
    func checkOrigin(_ origin: String?, host: String?, isEncrypted: Bool) throws(IoTError) -> Bool {
        guard let origin else { return false }
        // An origin is ASCII: a browser writes other names as Punycode (RFC 6454 §6.2).
        guard let lowercased = ASCII.lowercased(origin) else {
            throw IoTError(.forbidden, "the Origin field is damaged")
        }
        if let host = host.flatMap({ ASCII.lowercased($0) }),
            lowercased == "\(isEncrypted ? "https" : "http")://\(host)"
        {
            return false
        }
        guard allowedOrigins.contains(where: { ASCII.lowercased($0) == lowercased }) else {
            throw IoTError(
                .forbidden, "pages of '\(lowercased.prefix(64))' may not call the API",
                remedy: "add the origin to api.allowedOrigins")
        }
        return true
    }

    /// The host of `host[:port]`, which is ASCII; `nil` for text of another form (RFC 9112 §3.2).
    private static func name(inAuthority text: String) -> String? {
        var host = text[...]
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: end)...]
            guard rest.isEmpty || isPort(rest) else { return nil }
            return String(host[host.index(after: host.startIndex)..<end])
        }
        if let colon = host.firstIndex(of: ":") {
            guard isPort(host[colon...]) else { return nil }
            host = host[..<colon]
        }
        return host.isEmpty ? nil : String(host)
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && UInt16(text.dropFirst()) != nil
    }
}
