/// The response to a successful request without a result: `{}`.
public struct EmptyResponse: Codable, Hashable, Sendable {
    public init() {}
}
