public import IoTCore

/// The data of one of our cameras that is announced on the LAN. The names are those of the IoT video SDK's LAN device.
public struct AnnouncedCamera: Hashable, Sendable {
    /// The display name. If another service has it, a number is appended: `Front door (2)`.
    public var name: String
    /// `nil` for a camera that has no hub yet.
    public var deviceID: String?
    /// 32 hex digits that identify the announcement: the device id, or random digits for a camera without one.
    public var id: String
    public var productID: String?
    public var serialNumber: String?
    public var version: String?
    /// `aa:bb:cc:dd:ee:ff`
    public var macAddress: String?
    public var hasOwner: Bool
    /// The fingerprint of the camera's signing key.
    public var keyFingerprint: KeyFingerprint?
    /// The port where the camera can be reached.
    public var port: Int
    /// The only address where the camera can be reached: it is announced on that address's interface only, and on none
    /// if this machine does not have the address. `nil` if every address serves.
    public var address: IPAddress?

    public init(
        name: String, deviceID: String?, id: String? = nil, productID: String? = nil, serialNumber: String? = nil,
        version: String? = nil, macAddress: String? = nil, hasOwner: Bool, keyFingerprint: KeyFingerprint? = nil,
        port: Int, address: IPAddress? = nil
    ) {
        self.name = name
        self.deviceID = deviceID
        self.id = id ?? deviceID ?? ""
        self.productID = productID
        self.serialNumber = serialNumber
        self.version = version
        self.macAddress = macAddress
        self.hasOwner = hasOwner
        self.keyFingerprint = keyFingerprint
        self.port = port
        self.address = address
    }
}
