/// How much of a shared resource is in use.
public struct SharedUse: Codable, Hashable, Sendable {
    public var used: Int
    public var bound: Int

    public init(used: Int, bound: Int) {
        self.used = used
        self.bound = bound
    }
}
