/// The answer of a request that has nothing to tell but its success: `{}`.
public struct EmptyResponse: Codable, Hashable, Sendable {
    public init() {}
}
