import IoTCore

/// Restrictions on API requests over TCP, in addition to the bearer token.
struct APIAccess: Sendable, Equatable {
    /// Host names under which the API answers, besides IP addresses and `localhost`.
    var names: [String] = []
    /// Origins (`https://HOST[:PORT]`) of pages that may call the API.
    var allowedOrigins: [String] = []

    /// Refuses requests for foreign names: an attacker's DNS can point its own name to this machine (DNS rebinding).
    ///
    /// - Throws: 25005.
    func checkHost(_ host: String?) throws(IoTError) {
        guard let host, let name = ASCII.lowercased(host).flatMap(Self.name) else {
            throw IoTError(
                .forbidden, "the Host field is missing or malformed", remedy: "send the host of the URL as Host")
        }
        let isKnown =
            name == "localhost" || IPAddress.isValid(name) || names.contains { ASCII.lowercased($0) == name }
        guard isKnown else {
            throw IoTError(
                .forbidden, "the API does not answer under the name '\(name.prefix(64))'", remedy: "add it to api.names"
            )
        }
    }

    /// Checks the Origin field, which a browser sends with requests that a page of another site makes.
    ///
    /// - Returns: whether the origin is another, allowed one, so that the response needs CORS fields.
    /// - Throws: 25005.
    func checkOrigin(_ origin: String?, host: String?, isEncrypted: Bool) throws(IoTError) -> Bool {
        guard let origin else { return false }
        // Origins are ASCII: browsers write other names as Punycode (RFC 6454 §6.2).
        guard let lowercased = ASCII.lowercased(origin) else {
            throw IoTError(.forbidden, "the Origin field is malformed")
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

    /// The host of `host[:port]`; `nil` if the text has another form (RFC 9112 §3.2). The text must be ASCII.
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
