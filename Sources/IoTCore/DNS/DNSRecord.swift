/// The supported record types (RFC 1035 §3.2.2, RFC 2782, RFC 3596); others are kept as bytes.
package enum DNSRecordType {
    package static let a: UInt16 = 1
    package static let ptr: UInt16 = 12
    package static let txt: UInt16 = 16
    package static let aaaa: UInt16 = 28
    package static let srv: UInt16 = 33
    /// Only in questions.
    package static let any: UInt16 = 255
}

package enum DNSClass {
    package static let internet: UInt16 = 1
    package static let any: UInt16 = 255
}

/// One record of a message.
package struct DNSRecord: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        /// 4 bytes of an A record, 16 of an AAAA record.
        case address([UInt8])
        case pointer(DNSName)
        case service(priority: UInt16, weight: UInt16, port: UInt16, target: DNSName)
        /// Strings of at most 255 bytes.
        case text([[UInt8]])
        case other([UInt8])
    }

    /// Two records with the same identity are the same, whatever their time to live.
    package struct Identity: Hashable, Sendable {
        package let name: DNSName
        package let type: UInt16
        package let value: Value
    }

    package var name: DNSName
    package var type: UInt16
    /// Without the `isUnique` bit.
    package var dnsClass = DNSClass.internet
    /// The cache-flush bit: no other responder has records of this name and type (RFC 6762 §10.2).
    package var isUnique = false
    /// Seconds.
    package var ttl: UInt32
    package var value: Value

    package init(
        name: DNSName, type: UInt16, dnsClass: UInt16 = DNSClass.internet, isUnique: Bool = false, ttl: UInt32,
        value: Value
    ) {
        self.name = name
        self.type = type
        self.dnsClass = dnsClass
        self.isUnique = isUnique
        self.ttl = ttl
        self.value = value
    }

    package var identity: Identity { Identity(name: name, type: type, value: value) }

    /// The same record as a goodbye (RFC 6762 §10.1).
    package var goodbye: DNSRecord {
        var record = self
        record.ttl = 0
        return record
    }

    /// Class, type and uncompressed value: simultaneous probes compare these bytes (RFC 6762 §8.2).
    package var comparable: [UInt8] {
        var bytes = [dnsClass, type].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        switch value {
        case .address(let address): bytes += address
        case .pointer(let name): bytes += name.wire
        case .service(let priority, let weight, let port, let target):
            bytes += [priority, weight, port].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } + target.wire
        case .text(let strings): bytes += strings.flatMap { [UInt8($0.count)] + $0 }
        case .other(let value): bytes += value
        }
        return bytes
    }
}

/// One question of a message.
package struct DNSQuestion: Hashable, Sendable {
    package var name: DNSName
    package var type: UInt16
    package var dnsClass = DNSClass.internet
    /// The answer may be sent by unicast (RFC 6762 §5.4).
    package var wantsUnicast = false

    package init(
        name: DNSName, type: UInt16, dnsClass: UInt16 = DNSClass.internet, wantsUnicast: Bool = false
    ) {
        self.name = name
        self.type = type
        self.dnsClass = dnsClass
        self.wantsUnicast = wantsUnicast
    }
}
