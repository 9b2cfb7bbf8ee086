/// A Probe's conditions (WS-Discovery §5.1): without any, all devices match.
struct WSDFilter: Hashable, Sendable {
    enum Rule: String, Sendable {
        case rfc3986 = "http://schemas.xmlsoap.org/ws/2005/04/discovery/rfc2396"
        case uuid = "http://schemas.xmlsoap.org/ws/2005/04/discovery/uuid"
        case strcmp0 = "http://schemas.xmlsoap.org/ws/2005/04/discovery/strcmp0"
        /// LDAP's, and any unknown rule: nothing matches.
        case unknown
    }

    var types: [XMLElement.Name] = []
    var scopes: [String] = []
    var rule = Rule.rfc3986

    /// Whether the target has every type, and every scope matches one of the target's.
    func matches(_ target: WSDTarget) -> Bool {
        types.allSatisfy(target.types.contains)
            && scopes.allSatisfy { wanted in target.scopes.contains { isMatch(wanted, $0) } }
    }

    private func isMatch(_ wanted: String, _ scope: String) -> Bool {
        switch rule {
        case .rfc3986: WSDScope.isPrefix(wanted, of: scope)
        case .strcmp0: wanted == scope
        case .uuid: WSDTarget.endpoint(wanted) == WSDTarget.endpoint(scope)
        case .unknown: false
        }
    }
}

extension WSDFilter {
    /// - Parameter element: A Probe.
    init(_ element: XMLElement) {
        let types = element.child("Types")
        self.types = types.map { types in types.words.prefix(WSDTarget.maximumItems).map(types.qualifiedName) } ?? []
        guard let scopes = element.child("Scopes") else { return }
        self.scopes = WSDTarget.items(scopes)
        if let rule = scopes.attribute("MatchBy") {
            // "rfc3986" is the name in ONVIF and version 1.1.
            self.rule = Rule(rawValue: rule) ?? (rule.hasSuffix("/rfc3986") ? .rfc3986 : .unknown)
        }
    }
}
