public import IoTCore

/// The parameters of a paged list.
public struct PageQuery: LinkValue, Hashable {
    public static let limits: ClosedRange<Int64> = 1...500

    /// The last place of the page before. Only lines after it are listed.
    public var after: String?
    /// The maximum number of lines of a page; 500 when absent, so that the answer fits in an envelope.
    public var limit: Int64?
    /// `device.list`: another account's devices, for an administrator.
    public var user: AccessID?

    public init(after: String? = nil, limit: Int64? = nil, user: AccessID? = nil) {
        self.after = after
        self.limit = limit
        self.user = user
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        after = try members.optionalText("after")
        limit = try members.optionalInteger("limit")
        user = try members.optionalAccessID("user")
        guard Self.limits.contains(limit ?? 1) else {
            throw members.wrong("limit", "\(Self.limits.lowerBound) to \(Self.limits.upperBound)")
        }
    }

    public var json: JSONValue {
        .members(["after": .text(after), "limit": .whole(limit), "user": .text(user?.rawValue)])
    }
}

/// One line of a paged list.
public protocol LinkListed: LinkValue {
    /// The member of the answer that holds the list.
    static var listName: String { get }
    /// The member of a line that holds its place: the value of `after` for the next page.
    static var placeName: String { get }
    var place: String { get }
}

/// A page of a paged list.
public struct LinkPage<Element: LinkListed>: LinkValue {
    public var elements: [Element]
    public var hasMore: Bool
    /// The place of the last line, which may be one that this version cannot read.
    public var lastPlace: String?

    public init(_ elements: [Element], hasMore: Bool) {
        self.elements = elements
        self.hasMore = hasMore
        lastPlace = elements.last?.place
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(try members.readable(Element.listName, of: Element.self), hasMore: try members.flag("more"))
        let last = try members.list(Element.listName).last
        lastPlace = last?[Element.placeName]?.stringValue ?? lastPlace
    }

    public var json: JSONValue {
        [Element.listName: .array(elements.map(\.json)), "more": .bool(hasMore)]
    }
}
