import IoTLink

/// A credential that the hub issues to a principal for a limited time: a token or a media key.
protocol IssuedCredential: Sendable {
    var id: String { get }
    var principal: Principal { get }
    /// Seconds since 1970.
    var expires: Int64 { get }
    /// The API token that it was made with. It ends with that token.
    var parent: String? { get }
}

/// The tokens, or media keys, by id, principal and parent, and when the first of them expires.
struct TokenTable<Token: IssuedCredential>: Sendable {
    private var byID: [String: Token] = [:]
    private var byPrincipal: [Principal: Set<String>] = [:]
    private var byParent: [String: Set<String>] = [:]
    /// When the first token expires: s since 1970.
    private(set) var nextExpiry: Int64?

    subscript(id: String) -> Token? { byID[id] }

    var values: some Collection<Token> { byID.values }

    func count(of principal: Principal) -> Int { byPrincipal[principal]?.count ?? 0 }

    func of(_ principal: Principal) -> [Token] {
        (byPrincipal[principal] ?? []).compactMap { byID[$0] }
    }

    /// The ids of the credentials that were made with this token.
    func children(of id: String) -> Set<String> { byParent[id] ?? [] }

    mutating func add(_ token: Token) {
        byID[token.id] = token
        if let parent = token.parent { byParent[parent, default: []].insert(token.id) }
        byPrincipal[token.principal, default: []].insert(token.id)
        nextExpiry = min(nextExpiry ?? token.expires, token.expires)
    }

    /// - Parameter change: Must not change the properties that `IssuedCredential` requires.
    mutating func update(_ id: String, _ change: (inout Token) -> Void) {
        guard var token = byID[id] else { return }
        change(&token)
        byID[id] = token
    }

    mutating func remove(_ id: String) -> Token? {
        guard let token = byID.removeValue(forKey: id) else { return nil }
        byPrincipal[token.principal]?.remove(id)
        if byPrincipal[token.principal]?.isEmpty == true { byPrincipal[token.principal] = nil }
        if let parent = token.parent {
            byParent[parent]?.remove(id)
            if byParent[parent]?.isEmpty == true { byParent[parent] = nil }
        }
        if token.expires == nextExpiry { nextExpiry = byID.values.lazy.map(\.expires).min() }
        return token
    }

    func expired(at seconds: Int64) -> [String] {
        guard let nextExpiry, nextExpiry <= seconds else { return [] }
        return byID.values.filter { $0.expires <= seconds }.map(\.id)
    }
}
