/// The body of every answer whose status is 400 or above.
public struct ErrorResponse: Codable, Hashable, Sendable {
    public var error: APIError

    /// Only with 25014 `versionConflict`: what the property holds now.
    public var current: PropertyResponse?

    public init(error: APIError, current: PropertyResponse? = nil) {
        self.error = error
        self.current = current
    }
}
