import IoTLink

/// What the hub gives to a principal for a time: a token, or a media key.
protocol IssuedCredential: Sendable {
    var id: String { get }
    var principal: Principal { get }
    /// Seconds since 1970.
    var expires: Int64 { get }
    /// The API token that it was made with: it ends with that one.
    var parent: String? { get }
}

/// The tokens, or media keys, by id and by principal, and which of them expires first.
struct TokenTable<Token: IssuedCredential>: Sendable {
    private var byID: [String: Token] = [:]
    private var byPrincipal: [Principal: Set<String>] = [:]
    private var byParent: [String: Set<String>] = [:]
    /// When the first of them expires: s since 1970.
    private(set) var nextExpiry: Int64?

    subscript(id: String) -> Token? { byID[id] }

    var values: some Collection<Token> { byID.values }

    func count(of principal: Principal) -> Int { byPrincipal[principal]?.count ?? 0 }

    func of(_ principal: Principal) -> [Token] {
        (byPrincipal[principal] ?? []).compactMap { byID[$0] }
    }

    /// The ids of those that were made with a token.
    func children(of id: String) -> Set<String> { byParent[id] ?? [] }

    mutating func add(_ token: Token) {
        byID[token.id] = token
        if let parent = token.parent { byParent[parent, default: []].insert(token.id) }
        byPrincipal[token.principal, default: []].insert(token.id)
        nextExpiry = min(nextExpiry ?? token.expires, token.expires)
    }

    /// - Parameter change: leaves what `IssuedCredential` names as it is.
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
