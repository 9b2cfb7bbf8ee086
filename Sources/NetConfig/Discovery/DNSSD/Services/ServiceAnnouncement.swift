/// A service that is to be announced.
struct ServiceAnnouncement: Hashable, Sendable {
    /// What stays the same when the service changes its name or values.
    var id: String
    /// As it is wanted; a number is added when it is taken.
    var name: String
    var type: ServiceType
    var port: UInt16
    /// The strings of its TXT record.
    var text: [[UInt8]]

    /// More are refused.
    static let maximumCount = 128

    /// The name at an attempt: the wanted one, then `Name (2)` and so on (RFC 6763 Appendix D), cut to what a label
    /// holds.
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

/// What a directory is asked to do.
struct WantedServices: Hashable, Sendable {
    var announcements: [ServiceAnnouncement] = []
    var types: Set<ServiceType> = []

    var isEmpty: Bool { announcements.isEmpty && types.isEmpty }
}
