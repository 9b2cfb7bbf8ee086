import NIOCore

/// What was heard of one service on one link.
struct KnownInstance {
    struct Place: Hashable {
        var host: DNSName
        var port: Int
    }

    let key: ServiceKey
    /// Who told of it first: its quota holds it.
    let source: [UInt8]
    /// Of its PTR record.
    var pointer: Lease
    var place: (value: Place, lease: Lease)?
    var text: (value: [String: String], lease: Lease)?
    /// While its place or its text is missing.
    var question: BackOff?

    /// - Parameter name: a name of one label more than the type's.
    /// - Returns: `nil` for a label that is not readable text.
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
    /// While it has none.
    var question: BackOff?

    static let maximumAddresses = 16

    var deadlines: [NIODeadline] {
        addresses.values.flatMap { [$0.expires, $0.nextRefresh].compactMap { $0 } } + [question?.due].compactMap { $0 }
    }
}
