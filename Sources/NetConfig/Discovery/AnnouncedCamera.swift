/// What the network is told of a camera of ours: the keys of the LAN device of the SDK that the gateway follows.
public struct AnnouncedCamera: Hashable, Sendable {
    /// For people. One that is taken on the network gets a number: `Front door (2)`.
    public var name: String
    /// `nil` for a camera that has no hub yet.
    public var deviceID: String?
    /// 32 hex digits that tell the announcement from others: the device id, or random ones.
    public var id: String
    public var productID: String?
    public var serialNumber: String?
    public var version: String?
    /// `aa:bb:cc:dd:ee:ff`
    public var macAddress: String?
    public var hasOwner: Bool
    /// The UDP port where the camera can be reached.
    public var port: Int

    public init(
        name: String, deviceID: String?, id: String? = nil, productID: String? = nil, serialNumber: String? = nil,
        version: String? = nil,
        macAddress: String? = nil, hasOwner: Bool, port: Int
    ) {
        self.name = name
        self.deviceID = deviceID
        self.id = id ?? deviceID ?? ""
        self.productID = productID
        self.serialNumber = serialNumber
        self.version = version
        self.macAddress = macAddress
        self.hasOwner = hasOwner
        self.port = port
    }
}
