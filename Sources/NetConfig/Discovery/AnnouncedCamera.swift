/// The data of one of our cameras that is announced on the LAN. The names are those of the IoT video SDK's LAN device.
public struct AnnouncedCamera: Hashable, Sendable {
    /// The display name. If another service has it, a number is appended: `Front door (2)`.
    public var name: String
    public var deviceID: String
    public var productID: String?
    public var serialNumber: String?
    public var version: String?
    /// `aa:bb:cc:dd:ee:ff`
    public var macAddress: String?
    public var hasOwner: Bool
    /// The UDP port where the camera can be reached.
    public var port: Int

    public init(
        name: String, deviceID: String, productID: String? = nil, serialNumber: String? = nil, version: String? = nil,
        macAddress: String? = nil, hasOwner: Bool, port: Int
    ) {
        self.name = name
        self.deviceID = deviceID
        self.productID = productID
        self.serialNumber = serialNumber
        self.version = version
        self.macAddress = macAddress
        self.hasOwner = hasOwner
        self.port = port
    }
}
