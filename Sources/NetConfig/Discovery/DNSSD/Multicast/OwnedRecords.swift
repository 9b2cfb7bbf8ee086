import IoTCore

/// The records under one name of ours, on one link.
struct OwnedRecords: Hashable {
    /// The owner of the records: the host, or an announcement by its id.
    enum Owner: Hashable {
        case host
        case service(String)
    }

    /// The name that must be unique on the link.
    var name: DNSName
    /// Records of that name only.
    var unique: [DNSRecord]
    /// Records of names that other responders share.
    var shared: [DNSRecord] = []

    var all: [DNSRecord] { unique + shared }

    /// RFC 6762 §10: for records that contain a host's name or address, and for all others.
    static let hostTTL: UInt32 = 120
    static let otherTTL: UInt32 = 4_500

    static func host(_ name: DNSName, addresses: [[UInt8]]) -> OwnedRecords {
        OwnedRecords(
            name: name,
            unique: addresses.map { address in
                DNSRecord(
                    name: name, type: address.count == 4 ? DNSRecordType.a : DNSRecordType.aaaa, isUnique: true,
                    ttl: hostTTL, value: .address(address))
            })
    }

    static func service(_ announcement: ServiceAnnouncement, name: DNSName, host: DNSName) -> OwnedRecords {
        OwnedRecords(
            name: name,
            unique: [
                DNSRecord(
                    name: name, type: DNSRecordType.srv, isUnique: true, ttl: hostTTL,
                    value: .service(priority: 0, weight: 0, port: announcement.port, target: host)),
                // A TXT record has at least one string (RFC 6763 §6.1).
                DNSRecord(
                    name: name, type: DNSRecordType.txt, isUnique: true, ttl: otherTTL,
                    value: .text(announcement.text.isEmpty ? [[]] : announcement.text)),
            ],
            shared: [
                DNSRecord(
                    name: announcement.type.name, type: DNSRecordType.ptr, ttl: otherTTL, value: .pointer(name)),
                DNSRecord(
                    name: ServiceType.listing, type: DNSRecordType.ptr, ttl: otherTTL,
                    value: .pointer(announcement.type.name)),
            ])
    }

    /// Whether our probe loses against another host's for the same name: the later records win (RFC 6762 §8.2).
    func losesTieBreak(against others: [DNSRecord]) -> Bool {
        let ours = unique.map(\.comparable).sorted { $0.lexicographicallyPrecedes($1) }
        let theirs = others.map(\.comparable).sorted { $0.lexicographicallyPrecedes($1) }
        for (our, their) in zip(ours, theirs) where our != their { return our.lexicographicallyPrecedes(their) }
        return ours.count < theirs.count
    }
}
