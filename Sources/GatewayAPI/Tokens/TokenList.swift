public import IoTCore

/// `GET /v1/tokens`
public struct TokenList: Codable, Hashable, Sendable {
    public var tokens: [TokenDescription]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?

    public init(tokens: [TokenDescription], next: String? = nil) {
        self.tokens = tokens
        self.next = next
    }

    public init(_ page: Page<TokenDescription>) {
        self.init(tokens: page.elements, next: page.next)
    }
}
