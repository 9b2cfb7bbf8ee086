/// The requested part of a list: `limit` and `after` in the query of every list.
public struct PageRequest: Sendable, Hashable {
    public static let limits: ClosedRange<Int64> = 1...500
    public static let all = PageRequest()
    /// The longest `after`, in Unicode scalars.
    public static let longestName = 256

    /// The maximum number of elements; `nil` for all.
    public var limit: Int?
    /// The `next` of the previous page.
    public var after: String?

    public init(limit: Int? = nil, after: String? = nil) {
        self.limit = limit
        self.after = after
    }
}

/// A part of a list, sorted by the names of its elements.
public struct Page<Element> {
    public var elements: [Element]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?

    public init(_ elements: [Element], next: String? = nil) {
        self.elements = elements
        self.next = next
    }

    /// The requested part of a whole list. If the element named by `after` was removed in the meantime, the page
    /// continues at its position.
    public init(of list: some Sequence<Element>, _ request: PageRequest, by name: (Element) -> String) {
        var rest = list.map { (name: name($0), element: $0) }
        if let after = request.after { rest.removeAll { $0.name <= after } }
        rest.sort { $0.name < $1.name }
        let count = min(rest.count, request.limit ?? .max)
        self.init(rest.prefix(count).map(\.element), next: count < rest.count ? rest[count - 1].name : nil)
    }
}

extension Page: Sendable where Element: Sendable {}
