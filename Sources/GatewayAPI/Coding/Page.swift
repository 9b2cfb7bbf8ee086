/// Which part of a list is wanted: `limit` and `after` in the query of every list.
public struct PageRequest: Sendable, Hashable {
    public static let limits: ClosedRange<Int64> = 1...500
    public static let all = PageRequest()
    /// The longest `after`, in Unicode scalars.
    public static let longestName = 256

    /// At most so many; `nil` for all.
    public var limit: Int?
    /// What `next` of the page before said.
    public var after: String?

    public init(limit: Int? = nil, after: String? = nil) {
        self.limit = limit
        self.after = after
    }
}

/// A part of a list, in the order of its elements' names.
public struct Page<Element> {
    public var elements: [Element]
    /// What `after` must say for the next page; `nil` at the list's end.
    public var next: String?

    public init(_ elements: [Element], next: String? = nil) {
        self.elements = elements
        self.next = next
    }

    /// The wanted part of a whole list. An element that went meanwhile is no fault: a page goes on after where it was.
    public init(of list: some Sequence<Element>, _ request: PageRequest, by name: (Element) -> String) {
        var rest = list.map { (name: name($0), element: $0) }
        if let after = request.after { rest.removeAll { $0.name <= after } }
        rest.sort { $0.name < $1.name }
        let count = min(rest.count, request.limit ?? .max)
        self.init(rest.prefix(count).map(\.element), next: count < rest.count ? rest[count - 1].name : nil)
    }
}

extension Page: Sendable where Element: Sendable {}
