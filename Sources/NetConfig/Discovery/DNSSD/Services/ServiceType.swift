import IoTCore

/// The types of services that are announced and searched for.
public enum ServiceType: String, Sendable, CaseIterable, Codable {
    /// A camera of ours.
    case iotlink = "_iotlink._udp"
    case rtsp = "_rtsp._tcp"
    /// An Axis camera.
    case axisVideo = "_axis-video._tcp"

    /// `_iotlink._udp.local`
    var name: DNSName { Self.names[self] ?? .local }

    private static let names: [ServiceType: DNSName] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { type in
            let labels = type.rawValue.split(separator: ".").reversed()
            let name = labels.reduce(DNSName?.some(.local)) { $0?.prefixed(by: $1.utf8) }
            return name.map { (type, $0) }
        })

    /// The list of all service types of a network (RFC 6763 §9).
    static let listing: DNSName = ["_udp", "_dns-sd", "_services"].reduce(.local) { name, label in
        name.prefixed(by: label.utf8) ?? name
    }
}

/// The key of a service on one network.
public struct ServiceKey: Hashable, Sendable {
    /// For users: `Front door`. At most 63 bytes of UTF-8.
    public var name: String
    public var type: ServiceType

    public init(name: String, type: ServiceType) {
        self.name = name
        self.type = type
    }
}
