/// The body of every response with a status of 400 or above.
public struct ErrorResponse: Codable, Hashable, Sendable {
    public var error: APIError

    /// The property's current value; only with 25014 `versionConflict`.
    public var current: PropertyResponse?

    public init(error: APIError, current: PropertyResponse? = nil) {
        self.error = error
        self.current = current
    }
}
