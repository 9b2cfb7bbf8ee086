/// A release of firmware at the hub.
public struct ReleaseDescription: Codable, Hashable, Sendable {
    /// 32 hexadecimal digits.
    public var id: String
    /// The model of the devices that it is for.
    public var model: String
    public var version: String
    /// Of the file, in bytes.
    public var size: Int64
    /// Of the file, in hexadecimal digits.
    public var sha256: String
    /// The versions that it can replace; empty for all that are older.
    public var from: [String]
    /// Whether it may replace a newer version.
    public var downgrade: Bool
    /// Seconds since 1970.
    public var added: Int64
    /// Whether the hub has the whole file. Only then is the release offered.
    public var complete: Bool
    /// How many bytes of the file the hub has; `nil` from a hub on another box.
    public var received: Int64?
    /// The signed text. `nil` in a list.
    public var manifest: String?
    /// The manifest's signature in base64. `nil` in a list.
    public var signature: String?

    public init(
        id: String, model: String, version: String, size: Int64, sha256: String, from: [String] = [],
        downgrade: Bool = false, added: Int64, complete: Bool, received: Int64? = nil, manifest: String? = nil,
        signature: String? = nil
    ) {
        self.id = id
        self.model = model
        self.version = version
        self.size = size
        self.sha256 = sha256
        self.from = from
        self.downgrade = downgrade
        self.added = added
        self.complete = complete
        self.received = received
        self.manifest = manifest
        self.signature = signature
    }
}
