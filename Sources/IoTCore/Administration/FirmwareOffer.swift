/// The newest release for a device.
public struct FirmwareOffer: Codable, Hashable, Sendable {
    /// The device's model, as releases name it; empty if the device has none.
    public var model: String
    /// The version for which it was asked: the given one, or the one that the device last reported; `nil` if neither
    /// is known.
    public var currentVersion: String?
    /// Whether there is a release for the device. Without one, the members below are `nil`.
    public var available: Bool
    /// The release.
    public var id: String?
    public var version: String?
    /// Where the file is, at the hub's API.
    public var url: String?
    /// What is new; `nil` if the release does not say.
    public var description: String?
    /// The language of the description.
    public var language: String?
    /// Of the file, in bytes.
    public var size: Int64?

    public init(
        model: String, currentVersion: String? = nil, available: Bool = false, id: String? = nil,
        version: String? = nil, url: String? = nil, description: String? = nil, language: String? = nil,
        size: Int64? = nil
    ) {
        self.model = model
        self.currentVersion = currentVersion
        self.available = available
        self.id = id
        self.version = version
        self.url = url
        self.description = description
        self.language = language
        self.size = size
    }
}
