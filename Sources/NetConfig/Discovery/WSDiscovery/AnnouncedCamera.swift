public import IoTCore

/// What the network is told of a camera of ours: the keys of the LAN device of the SDK that the gateway follows.
public struct AnnouncedCamera: Hashable, Sendable {
    public var device: DeviceID
    public var name: String
    public var productID: String
    public var version: String
    public var hasOwner: Bool

    public init(device: DeviceID, name: String, productID: String, version: String, hasOwner: Bool) {
        self.device = device
        self.name = name
        self.productID = productID
        self.version = version
        self.hasOwner = hasOwner
    }
}

extension WSDTarget {
    /// The start of our scopes: `iotlink://camera/deviceID/…`.
    static let scopePrefix = "iotlink://camera/"

    init(_ camera: AnnouncedCamera) {
        let facts = [
            ("deviceID", camera.device.rawValue), ("productID", camera.productID), ("name", camera.name),
            ("version", camera.version), ("hasOwner", camera.hasOwner ? "true" : "false"),
        ]
        self.init(
            endpoint: WSDIdentifier.address(camera.device.rawValue), types: [WSDNamespace.camera],
            scopes: facts.map { Self.scopePrefix + $0.0 + "/" + WSDScope.encoded($0.1) })
    }
}
