/// Announces services on the network and finds those of others. Confined to its event loop, where it also reports.
protocol ServiceDirectory: AnyObject {
    /// From now on this is announced and looked for, in place of what was wanted before.
    func apply(_ wanted: WantedServices)

    /// Withdraws everything and ends; afterwards it reports nothing. The call does not wait for the network.
    func close()
}

/// What a directory reports.
enum DirectoryReport: Sendable {
    /// Whether it works now. Only then does it announce and find.
    case isRunning(Bool)
    case service(ServiceEvent, on: ServiceLink)
    /// What was seen there is not known any more.
    case linkIsGone(ServiceLink)
    /// A service is announced under this name; reported again when it gets another.
    case named(id: String, String)
}

/// Where a service was seen: an interface, with one of the IP versions.
struct ServiceLink: Hashable, Sendable, Comparable {
    var interface: Int
    var isIPv6: Bool

    static func < (left: ServiceLink, right: ServiceLink) -> Bool {
        (left.interface, left.isIPv6 ? 1 : 0) < (right.interface, right.isIPv6 ? 1 : 0)
    }
}
