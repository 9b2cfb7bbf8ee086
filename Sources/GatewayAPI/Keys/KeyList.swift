public import IoTCore

/// `GET /v1/keys`
public struct KeyList: Codable, Hashable, Sendable {
    public var keys: [KeyDescription]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?

    public init(keys: [KeyDescription], next: String? = nil) {
        self.keys = keys
        self.next = next
    }

    public init(_ page: Page<KeyDescription>) {
        self.init(keys: page.elements, next: page.next)
    }
}
