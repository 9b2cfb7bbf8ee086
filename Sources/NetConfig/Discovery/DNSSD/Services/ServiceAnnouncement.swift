import IoTCore

/// A service to be announced.
struct ServiceAnnouncement: Hashable, Sendable {
    /// Stays the same when the service's name or values change.
    var id: String
    /// The wanted name; a number is added if it is in use.
    var name: String
    var type: ServiceType
    var port: UInt16
    /// The only address of the service, or `nil` if every address of the link serves.
    var address: IPAddress?
    /// The strings of the service's TXT record.
    var text: [[UInt8]]

    /// The maximum number; more are refused.
    static let maximumCount = 128

    /// Whether the service can be reached at an address of this machine, in packed form.
    func isReachable(at own: [UInt8]) -> Bool { address.map { $0.bytes == own } ?? true }

    /// The name at an attempt: the wanted one, then `Name (2)` and so on (RFC 6763 Appendix D), truncated to a label's
    /// size.
    func label(attempt: Int) -> String {
        Self.label(name, suffix: attempt == 0 ? "" : " (\(attempt + 1))")
    }

    static func label(_ name: String, suffix: String) -> String {
        var bytes = 0
        let room = DNSName.maximumLabel - suffix.utf8.count
        let kept = name.unicodeScalars.prefix { scalar in
            bytes += scalar.utf8.count
            return bytes <= room
        }
        return String(String.UnicodeScalarView(kept)) + suffix
    }
}

/// The announcements and searches that a directory must run.
struct WantedServices: Hashable, Sendable {
    var announcements: [ServiceAnnouncement] = []
    var types: Set<ServiceType> = []

    var isEmpty: Bool { announcements.isEmpty && types.isEmpty }
}
