extension DNSMessage {
    private static let headerSize = 12

    /// `nil` for a message that is damaged or too long, and for one with another operation than a query or with a
    /// response code, because both must be ignored (RFC 6762 §18.3, §18.11).
    ///
    /// The cost is linear: each name costs at most 255 bytes and 32 pointers, and no record is shorter than 11 bytes.
    package init?(parsing bytes: [UInt8]) {
        guard bytes.count <= Self.maximumSize else { return nil }
        var reader = DNSReader(bytes)
        guard let id = reader.readUInt16(), let flags = reader.readUInt16(), let questionCount = reader.readUInt16(),
            let answerCount = reader.readUInt16(), let authorityCount = reader.readUInt16(),
            let additionCount = reader.readUInt16()
        else { return nil }
        // The operation, and the response code.
        guard flags & 0x7800 == 0, flags & 0x000F == 0 else { return nil }
        self.init(id: id, isResponse: flags & 0x8000 != 0, isTruncated: flags & 0x0200 != 0)
        for _ in 0..<questionCount {
            guard let question = reader.readQuestion() else { return nil }
            questions.append(question)
        }
        guard let answers = reader.readRecords(answerCount), let authorities = reader.readRecords(authorityCount),
            let additions = reader.readRecords(additionCount)
        else { return nil }
        self.answers = answers
        self.authorities = authorities
        self.additions = additions
    }
}

/// Reads a message from its beginning to its end.
private struct DNSReader {
    private let bytes: [UInt8]
    private var place = 0

    private static let maximumJumps = 32

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func readUInt16() -> UInt16? {
        guard bytes.count - place >= 2 else { return nil }
        defer { place += 2 }
        return UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
    }

    private mutating func readBytes(_ count: Int) -> [UInt8]? {
        guard bytes.count - place >= count else { return nil }
        defer { place += count }
        return Array(bytes[place..<(place + count)])
    }

    mutating func readQuestion() -> DNSQuestion? {
        guard let name = readName(), let type = readUInt16(), let dnsClass = readUInt16() else { return nil }
        return DNSQuestion(name: name, type: type, dnsClass: dnsClass & 0x7FFF, wantsUnicast: dnsClass & 0x8000 != 0)
    }

    mutating func readRecords(_ count: UInt16) -> [DNSRecord]? {
        var records: [DNSRecord] = []
        for _ in 0..<count {
            guard let record = readRecord() else { return nil }
            records.append(record)
        }
        return records
    }

    private mutating func readRecord() -> DNSRecord? {
        guard let name = readName(), let type = readUInt16(), let dnsClass = readUInt16(), let high = readUInt16(),
            let low = readUInt16(), let length = readUInt16(), bytes.count - place >= Int(length)
        else { return nil }
        let end = place + Int(length)
        // OPT's class is a size (RFC 6891 §6.1.2), and other classes have other meanings.
        let value =
            dnsClass & 0x7FFF == DNSClass.internet
            ? readValue(type, until: end) : readBytes(Int(length)).map(DNSRecord.Value.other)
        guard let value, place == end else { return nil }
        return DNSRecord(
            name: name, type: type, dnsClass: dnsClass & 0x7FFF, isUnique: dnsClass & 0x8000 != 0,
            ttl: UInt32(high) << 16 | UInt32(low), value: value)
    }

    private mutating func readValue(_ type: UInt16, until end: Int) -> DNSRecord.Value? {
        switch type {
        case DNSRecordType.a: end - place == 4 ? readBytes(4).map(DNSRecord.Value.address) : nil
        case DNSRecordType.aaaa: end - place == 16 ? readBytes(16).map(DNSRecord.Value.address) : nil
        case DNSRecordType.ptr: readName().map(DNSRecord.Value.pointer)
        case DNSRecordType.srv: readService()
        case DNSRecordType.txt: readStrings(until: end).map(DNSRecord.Value.text)
        default: readBytes(end - place).map(DNSRecord.Value.other)
        }
    }

    private mutating func readService() -> DNSRecord.Value? {
        guard let priority = readUInt16(), let weight = readUInt16(), let port = readUInt16(), let target = readName()
        else { return nil }
        return .service(priority: priority, weight: weight, port: port, target: target)
    }

    private mutating func readStrings(until end: Int) -> [[UInt8]]? {
        var strings: [[UInt8]] = []
        while place < end {
            let length = Int(bytes[place])
            place += 1
            guard end - place >= length, let string = readBytes(length) else { return nil }
            strings.append(string)
        }
        return strings
    }

    /// A name, with its compression resolved (RFC 1035 §4.1.4). Each pointer must refer to a position before the labels
    /// that led to it, so there cannot be a loop.
    private mutating func readName() -> DNSName? {
        var wire: [UInt8] = []
        var cursor = place
        var start = place
        var next: Int?
        var jumps = 0
        while cursor < bytes.count {
            let length = bytes[cursor]
            switch length {
            case 0:
                wire.append(0)
                place = next ?? cursor + 1
                return DNSName(unchecked: wire)
            case 1...63:
                let end = cursor + 1 + Int(length)
                guard end <= bytes.count, wire.count + Int(length) + 2 <= DNSName.maximumSize else { return nil }
                wire += bytes[cursor..<end]
                cursor = end
            case 0xC0...:
                guard cursor + 1 < bytes.count, jumps < Self.maximumJumps else { return nil }
                let target = Int(length & 0x3F) << 8 | Int(bytes[cursor + 1])
                guard target < start else { return nil }
                next = next ?? cursor + 2
                jumps += 1
                start = target
                cursor = target
            default:
                return nil
            }
        }
        return nil
    }
}
