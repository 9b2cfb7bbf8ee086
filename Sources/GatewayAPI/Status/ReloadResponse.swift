/// `POST /v1/configuration/reload`: what the new configuration changed.
public struct ReloadResponse: Codable, Hashable, Sendable {
    /// Names of cameras; also in `changed` and `removed`.
    public var added: [String]
    public var changed: [String]
    public var removed: [String]
    /// Changed keys that take effect at the next start.
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
