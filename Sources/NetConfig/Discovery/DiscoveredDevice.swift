public import IoTCore

/// How a device was found.
public enum DiscoveryProtocol: String, Codable, CaseIterable, Sendable {
    case wsDiscovery, dnsSD
}

/// The information from one protocol about one device.
public struct DiscoveredDevice: Hashable, Sendable, Codable {
    /// Unique identifiers: `urn:uuid:…`, `mac:aa:bb:cc:dd:ee:ff`, `serial:…`, `device:ID`, `key:SHA256:…`,
    /// `service:NAME.TYPE`.
    public var identities: Set<String>
    public var name: String?
    public var manufacturer: String?
    public var model: String?
    public var serialNumber: String?
    /// `aa:bb:cc:dd:ee:ff`
    public var macAddress: String?
    /// The firmware's version.
    public var version: String?
    /// The id at its hub; only for a camera of ours.
    public var deviceID: String?
    /// The kind of device; only for a camera of ours.
    public var productID: String?
    /// Whether an account owns it; only for a camera of ours.
    public var hasOwner: Bool?
    /// The fingerprint of the signing key; only for a camera of ours. Any machine on the network can send a false one.
    public var keyFingerprint: KeyFingerprint?
    public var addresses: [IPAddress]
    /// The port of its service `_iotlink._udp`; only for a camera of ours.
    public var port: Int?
    /// The services' URLs: ONVIF's device service, RTSP, a web page.
    public var serviceURLs: [String]
    public var foundBy: Set<DiscoveryProtocol>

    public init(
        identities: Set<String> = [], name: String? = nil, manufacturer: String? = nil, model: String? = nil,
        serialNumber: String? = nil, macAddress: String? = nil, version: String? = nil, deviceID: String? = nil,
        productID: String? = nil, hasOwner: Bool? = nil, keyFingerprint: KeyFingerprint? = nil,
        addresses: [IPAddress] = [], port: Int? = nil, serviceURLs: [String] = [], foundBy: Set<DiscoveryProtocol> = []
    ) {
        self.identities = identities
        self.name = name
        self.manufacturer = manufacturer
        self.model = model
        self.serialNumber = serialNumber
        self.macAddress = macAddress
        self.version = version
        self.deviceID = deviceID
        self.productID = productID
        self.hasOwner = hasOwner
        self.keyFingerprint = keyFingerprint
        self.addresses = addresses
        self.port = port
        self.serviceURLs = serviceURLs
        self.foundBy = foundBy
    }
}

extension DiscoveredDevice {
    /// The identity of one of our cameras that has no hub, and so no device id, yet.
    var keyIdentity: String? {
        guard deviceID == nil else { return nil }
        return keyFingerprint.map { "key:\($0)" }
    }
}
