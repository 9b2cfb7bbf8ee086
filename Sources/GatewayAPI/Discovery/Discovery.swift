public import IoTCore

/// `POST /v1/discoveries`: one search of the networks of the daemon's machine.
public struct DiscoveryRequest: APIRequestBody, Hashable {
    public static let members = ["timeoutMilliseconds"]
    public static let range = 1000...30_000
    public static let defaultTimeout = 3000

    /// How long to wait for answers, within `range`; default 3000.
    public var timeoutMilliseconds: Int?

    public init(timeoutMilliseconds: Int? = nil) {
        self.timeoutMilliseconds = timeoutMilliseconds
    }
}

/// Everything that was found.
public struct DiscoveryReport: Codable, Hashable, Sendable {
    public var devices: [FoundDevice]
    /// The interfaces that were searched; empty on a machine without a network.
    public var interfaces: [String]

    public init(devices: [FoundDevice], interfaces: [String]) {
        self.devices = devices
        self.interfaces = interfaces
    }
}

/// One device, even if several interfaces and protocols found it.
public struct FoundDevice: Codable, Hashable, Sendable {
    /// The user's next step with it.
    public enum NextStep: String, Codable, CaseIterable, Sendable {
        /// Add it to this daemon.
        case add
        /// One of our cameras, registered with a hub, that nobody owns yet.
        case bind
        /// One of our cameras that waits for its network and its hub.
        case provision
        /// One of our cameras that belongs to an account, which can share it.
        case owned
        /// It is a camera of this daemon, or a device of the caller's.
        case none
        /// The device offers nothing that iotvideod can use.
        case unknown
    }

    public var name: String?
    public var manufacturer: String?
    public var model: String?
    public var serialNumber: String?
    public var macAddress: String?
    public var version: String?
    /// For our cameras.
    public var deviceID: String?
    public var productID: String?
    public var hasOwner: Bool?
    /// The fingerprint of the key with which one of our cameras signs. Any machine on the network can send a false one.
    public var keyFingerprint: KeyFingerprint?
    /// Link-local addresses are last; those of IPv6 have `%` and the interface.
    public var addresses: [String]
    /// The port at which one of our cameras is announced. While it waits for its hub, it is provisioned there.
    public var port: Int?
    public var serviceURLs: [String]
    public var identities: [String]
    /// `wsDiscovery`, `dnsSD`
    public var foundBy: [String]
    public var next: NextStep
    /// The URL for `iotctl camera add --onvif`.
    public var onvif: String?
    /// The name of this daemon's camera that it is.
    public var camera: String?

    public init(
        name: String? = nil, manufacturer: String? = nil, model: String? = nil, serialNumber: String? = nil,
        macAddress: String? = nil, version: String? = nil, deviceID: String? = nil, productID: String? = nil,
        hasOwner: Bool? = nil, keyFingerprint: KeyFingerprint? = nil, addresses: [String] = [],
        port: Int? = nil, serviceURLs: [String] = [], identities: [String] = [], foundBy: [String] = [],
        next: NextStep = .unknown, onvif: String? = nil, camera: String? = nil
    ) {
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
        self.identities = identities
        self.foundBy = foundBy
        self.next = next
        self.onvif = onvif
        self.camera = camera
    }
}
