/// The size of a resource, and how it is shared.
public struct QuotaBound: Sendable, Hashable {
    /// The maximum that all holders together may have.
    public var total: Int
    /// The maximum that one holder may have.
    public var each: Int
    /// The part of `total` that only privileged holders may have.
    public var reserve: Int

    public init(total: Int, each: Int, reserve: Int = 0) {
        self.total = total
        self.each = each
        self.reserve = reserve
    }
}
