extension DNSMessage {
    /// The message's bytes, its names compressed.
    package func encoded() -> [UInt8] {
        var writer = DNSWriter()
        // A response is authoritative (RFC 6762 §18.4).
        let flags: UInt16 = (isResponse ? 0x8400 : 0) | (isTruncated ? 0x0200 : 0)
        let counts = [questions.count, answers.count, authorities.count, additions.count]
        for number in [id, flags] + counts.map(UInt16.init(clamping:)) { writer.write(number) }
        for question in questions {
            writer.write(question.name)
            writer.write(question.type)
            writer.write(question.dnsClass | (question.wantsUnicast ? 0x8000 : 0))
        }
        for record in answers + authorities + additions { writer.write(record) }
        return writer.bytes
    }
}

private struct DNSWriter {
    private(set) var bytes: [UInt8] = []
    /// The position of each name and of each of its suffixes.
    private var places: [ArraySlice<UInt8>: Int] = [:]

    mutating func write(_ number: UInt16) {
        bytes += [UInt8(number >> 8), UInt8(number & 0xFF)]
    }

    mutating func write(_ name: DNSName) {
        var rest = name.wire[...]
        while let length = rest.first, length != 0 {
            if let place = places[rest] {
                write(0xC000 | UInt16(place))
                return
            }
            // A pointer has 14 bits.
            if bytes.count < 0x4000 { places[rest] = bytes.count }
            bytes += rest.prefix(Int(length) + 1)
            rest = rest.dropFirst(Int(length) + 1)
        }
        bytes.append(0)
    }

    mutating func write(_ record: DNSRecord) {
        write(record.name)
        write(record.type)
        write(record.dnsClass | (record.isUnique ? 0x8000 : 0))
        write(UInt16(record.ttl >> 16))
        write(UInt16(record.ttl & 0xFFFF))
        let start = bytes.count
        write(0)
        switch record.value {
        case .address(let value), .other(let value): bytes += value
        case .pointer(let name): write(name)
        case .service(let priority, let weight, let port, let target):
            for number in [priority, weight, port] { write(number) }
            // Unlike in DNS, compression is allowed here (RFC 6762 §18.14).
            write(target)
        case .text(let strings):
            for string in strings { bytes += [UInt8(clamping: string.count)] + string }
        }
        let length = UInt16(clamping: bytes.count - start - 2)
        bytes[start] = UInt8(length >> 8)
        bytes[start + 1] = UInt8(length & 0xFF)
    }
}
