/// `POST /v1/configuration/reload`: what the new configuration changed.
public struct ReloadResponse: Codable, Hashable, Sendable {
    /// Names of cameras.
    public var added: [String]
    public var changed: [String]
    public var removed: [String]
    /// Keys that take effect at the next start.
    public var restartNeeded: [String]

    public init(
        added: [String] = [], changed: [String] = [], removed: [String] = [], restartNeeded: [String] = []
    ) {
        self.added = added
        self.changed = changed
        self.removed = removed
        self.restartNeeded = restartNeeded
    }
}
