public import IoTCore

/// `GET /v1/keys`
public struct KeyList: Codable, Hashable, Sendable {
    public var keys: [KeyDescription]
    /// What `after` must say for the next page; `nil` at the list's end.
    public var next: String?

    public init(keys: [KeyDescription], next: String? = nil) {
        self.keys = keys
        self.next = next
    }

    public init(_ page: Page<KeyDescription>) {
        self.init(keys: page.elements, next: page.next)
    }
}
