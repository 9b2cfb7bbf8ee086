import IoTCore
import NIOCore

/// The known records of one service on one link.
struct KnownInstance {
    struct Place: Hashable {
        var host: DNSName
        var port: Int
    }

    let key: ServiceKey
    /// The first sender; the instance counts against its quota.
    let source: [UInt8]
    /// The lease of its PTR record.
    var pointer: Lease
    var place: (value: Place, lease: Lease)?
    var text: (value: [String: String], lease: Lease)?
    /// Set while its place or its text is missing.
    var question: BackOff?

    /// - Parameter name: A name with one label more than the type's.
    /// - Returns: `nil` if the label is not readable text.
    static func key(_ name: DNSName, of type: ServiceType) -> ServiceKey? {
        guard name.parent == type.name, let label = name.labels.first, let text = ServiceText.readable(label)
        else { return nil }
        return ServiceKey(name: text, type: type)
    }

    var deadlines: [NIODeadline] {
        let leases = [pointer, place?.lease, text?.lease].compactMap { $0 }
        return leases.flatMap { [$0.expires, $0.nextRefresh].compactMap { $0 } } + [question?.due].compactMap { $0 }
    }
}

/// The addresses of a host that has services.
struct KnownHost {
    var addresses: [[UInt8]: Lease] = [:]
    /// Set while it has no address.
    var question: BackOff?

    static let maximumAddresses = 16

    var deadlines: [NIODeadline] {
        addresses.values.flatMap { [$0.expires, $0.nextRefresh].compactMap { $0 } } + [question?.due].compactMap { $0 }
    }
}
