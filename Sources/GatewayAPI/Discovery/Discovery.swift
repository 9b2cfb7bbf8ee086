public import IoTCore

/// `POST /v1/discoveries`: one search of the networks of the daemon's machine.
public struct DiscoveryRequest: APIRequestBody, Hashable {
    public static let members = ["timeoutMilliseconds"]
    public static let range = 1000...30_000
    public static let defaultTimeout = 3000

    /// How long answers are waited for, `range`; 3000 unless told.
    public var timeoutMilliseconds: Int?

    public init(timeoutMilliseconds: Int? = nil) {
        self.timeoutMilliseconds = timeoutMilliseconds
    }
}

/// Everything that was found.
public struct DiscoveryReport: Codable, Hashable, Sendable {
    public var devices: [FoundDevice]
    /// Where was searched; empty on a machine without a network.
    public var interfaces: [String]

    public init(devices: [FoundDevice], interfaces: [String]) {
        self.devices = devices
        self.interfaces = interfaces
    }
}

/// One device, however many interfaces and protocols showed it.
public struct FoundDevice: Codable, Hashable, Sendable {
    /// What a user does next with it.
    public enum NextStep: String, Codable, CaseIterable, Sendable {
        /// Make it a camera of this daemon.
        case add
        /// A camera of ours at a hub, which nobody owns yet.
        case bind
        /// A camera of ours that waits for its network and its hub.
        case provision
        /// A camera of ours that belongs to an account, which can share it.
        case owned
        /// It is a camera of this daemon, or a device of the caller's.
        case none
        /// Nothing that iotvideod can use is known of it.
        case unknown
    }

    public var name: String?
    public var manufacturer: String?
    public var model: String?
    public var serialNumber: String?
    public var macAddress: String?
    public var version: String?
    /// Of a camera of ours.
    public var deviceID: String?
    public var productID: String?
    public var hasOwner: Bool?
    /// Of the key by which a camera of ours signs, as it was seen on the network, where anybody can send it.
    public var keyFingerprint: KeyFingerprint?
    /// Link-local ones last, with `%` and the interface where they are of IPv6.
    public var addresses: [String]
    public var serviceURLs: [String]
    public var identities: [String]
    /// `wsDiscovery`, `dnsSD`
    public var foundBy: [String]
    public var next: NextStep
    /// What `iotctl camera add --onvif` takes.
    public var onvif: String?
    /// The camera of this daemon that it is.
    public var camera: String?

    public init(
        name: String? = nil, manufacturer: String? = nil, model: String? = nil, serialNumber: String? = nil,
        macAddress: String? = nil, version: String? = nil, deviceID: String? = nil, productID: String? = nil,
        hasOwner: Bool? = nil, keyFingerprint: KeyFingerprint? = nil, addresses: [String] = [],
        serviceURLs: [String] = [], identities: [String] = [], foundBy: [String] = [], next: NextStep = .unknown,
        onvif: String? = nil, camera: String? = nil
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
        self.serviceURLs = serviceURLs
        self.identities = identities
        self.foundBy = foundBy
        self.next = next
        self.onvif = onvif
        self.camera = camera
    }
}
