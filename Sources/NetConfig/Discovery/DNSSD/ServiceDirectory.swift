/// Announces our services on the network and finds other services. Confined to its event loop, where it also reports.
protocol ServiceDirectory: AnyObject {
    /// Replaces the wanted announcements and searches.
    func apply(_ wanted: WantedServices)

    /// Withdraws everything and ends; it reports nothing afterwards. The call does not wait for the network.
    func close()
}

/// A directory's report.
enum DirectoryReport: Sendable {
    /// Whether it works now. It announces and finds services only while it works.
    case isRunning(Bool)
    case service(ServiceEvent, on: ServiceLink)
    /// The services of this link are not known any more.
    case linkIsGone(ServiceLink)
    /// The name under which a service is announced; reported again when it changes.
    case named(id: String, String)
}

/// The link of a found service: an interface, with one of the IP versions.
struct ServiceLink: Hashable, Sendable, Comparable {
    var interface: Int
    var isIPv6: Bool

    static func < (left: ServiceLink, right: ServiceLink) -> Bool {
        (left.interface, left.isIPv6 ? 1 : 0) < (right.interface, right.isIPv6 ? 1 : 0)
    }
}
