import IoTCore

/// All found devices: one row for each device, however many interfaces and protocols found it.
///
/// The protocols' reports are stored unchanged, and rows are made on request, so that the order of datagrams does not
/// matter.
public struct DiscoveryTable: Sendable {
    /// By protocol and identity: one protocol's report about one device.
    private var sightings: [Key: DiscoveredDevice] = [:]

    private struct Key: Hashable {
        var foundBy: DiscoveryProtocol
        var identity: String
    }

    /// Further devices are ignored: networks have fewer, and a stranger can invent any number.
    public static let capacity = 1024
    private static let maximumAddresses = 16
    private static let maximumURLs = 16

    public init() {}

    /// - Parameter device: A device found by one protocol.
    /// - Returns: False if the table is full.
    @discardableResult
    public mutating func add(_ device: DiscoveredDevice) -> Bool {
        guard let foundBy = device.foundBy.first, let identity = Self.identity(device) else { return false }
        let key = Key(foundBy: foundBy, identity: identity)
        guard sightings[key] != nil || sightings.count < Self.capacity else { return false }
        var known = sightings[key] ?? device
        known.merge(device)
        known.addresses = Array(known.addresses.prefix(Self.maximumAddresses))
        known.serviceURLs = Array(known.serviceURLs.prefix(Self.maximumURLs))
        sightings[key] = known
        return true
    }

    /// Removes a device that announced that it leaves.
    public mutating func remove(identity: String, foundBy: DiscoveryProtocol) {
        sightings[Key(foundBy: foundBy, identity: identity)] = nil
    }

    /// The identity that its protocol uses when the device leaves; otherwise another one, or its address.
    private static func identity(_ device: DiscoveredDevice) -> String? {
        let identities = device.identities.sorted()
        return identities.first { $0.hasPrefix("urn:") || $0.hasPrefix("service:") } ?? identities.first
            ?? device.addresses.first.map { "address:\($0)" }
    }

    /// In order of their addresses.
    public var devices: [DiscoveredDevice] {
        var groups = DiscoveryGroups(
            sightings.sorted { ($0.key.identity, $0.key.foundBy.rawValue) < ($1.key.identity, $1.key.foundBy.rawValue) }
                .map(\.value))
        groups.joinSame()
        groups.joinLikely()
        return groups.devices.map(Self.ordered).sorted(by: Self.isBefore)
    }

    /// Addresses that are valid without an interface come first, and IPv4 before IPv6.
    private static func ordered(_ device: DiscoveredDevice) -> DiscoveredDevice {
        func place(_ address: IPAddress) -> Int {
            (address.isLinkLocal || address.description.hasPrefix("169.254.") ? 2 : 0) + (address.isIPv6 ? 1 : 0)
        }
        var device = device
        device.addresses = (0...3).flatMap { rank in device.addresses.filter { place($0) == rank } }
        return device
    }

    private static func isBefore(_ left: DiscoveredDevice, _ right: DiscoveredDevice) -> Bool {
        let places = (left.addresses.first?.sortKey ?? [], right.addresses.first?.sortKey ?? [])
        if places.0 != places.1 { return places.0.lexicographicallyPrecedes(places.1) }
        let names = (left.name ?? "", right.name ?? "")
        if names.0 != names.1 { return names.0 < names.1 }
        return left.identities.sorted().lexicographicallyPrecedes(right.identities.sorted())
    }
}

extension IPAddress {
    /// IPv4 in numeric order, before IPv6.
    fileprivate var sortKey: [Int] {
        isIPv6 ? [1] + description.utf8.map { Int($0) } : [0] + description.split(separator: ".").map { Int($0) ?? 0 }
    }
}

extension DiscoveredDevice {
    /// Adds the information from another sighting of the same device.
    mutating func merge(_ other: DiscoveredDevice) {
        identities.formUnion(other.identities)
        name = name ?? other.name
        manufacturer = manufacturer ?? other.manufacturer
        model = model ?? other.model
        serialNumber = serialNumber ?? other.serialNumber
        macAddress = macAddress ?? other.macAddress
        version = version ?? other.version
        deviceID = deviceID ?? other.deviceID
        productID = productID ?? other.productID
        hasOwner = hasOwner ?? other.hasOwner
        keyFingerprint = keyFingerprint ?? other.keyFingerprint
        addresses = (addresses + other.addresses).unique
        port = port ?? other.port
        serviceURLs = (serviceURLs + other.serviceURLs).unique
        foundBy.formUnion(other.foundBy)
    }
}
