public import IoTCore

/// `GET /v1/tokens`
public struct TokenList: Codable, Hashable, Sendable {
    public var tokens: [TokenDescription]
    /// What `after` must say for the next page; `nil` at the list's end.
    public var next: String?

    public init(tokens: [TokenDescription], next: String? = nil) {
        self.tokens = tokens
        self.next = next
    }

    public init(_ page: Page<TokenDescription>) {
        self.init(tokens: page.elements, next: page.next)
    }
}
