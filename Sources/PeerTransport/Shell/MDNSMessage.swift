import NIOCore

/// The subset of multicast DNS that resolves a name (RFC 6762, RFC 1035 §4).
enum MDNSMessage {
    static let port = 5353
    private static let typeA: UInt16 = 1
    private static let typeAAAA: UInt16 = 28
    private static let classInternet: UInt16 = 1
    private static let maximumRecords = 64
    private static let maximumJumps = 16

    /// A query for a name's IPv4 and IPv6 addresses.
    static func query(_ name: String) -> ByteBuffer {
        var buffer = ByteBuffer()
        // Id and flags are 0 (RFC 6762 §18); two questions.
        buffer.writeMultipleIntegers(UInt16(0), UInt16(0), UInt16(2), UInt16(0), UInt16(0), UInt16(0))
        for type in [typeA, typeAAAA] {
            for label in name.split(separator: ".") {
                buffer.writeInteger(UInt8(truncatingIfNeeded: min(label.utf8.count, 63)))
                buffer.writeBytes(label.utf8.prefix(63))
            }
            buffer.writeInteger(UInt8(0))
            buffer.writeMultipleIntegers(type, classInternet)
        }
        return buffer
    }

    /// The addresses in a response, with names in lower case and port 0; empty for any other datagram.
    static func addresses(in datagram: ByteBuffer) -> [(name: String, address: SocketAddress)] {
        var found: [(name: String, address: SocketAddress)] = []
        var buffer = datagram
        guard
            let (_, flags, questions, answers, authorities, additions) = buffer.readMultipleIntegers(
                as: (UInt16, UInt16, UInt16, UInt16, UInt16, UInt16).self),
            flags & 0x8000 != 0
        else { return [] }
        for _ in 0..<min(Int(questions), maximumRecords) {
            guard readName(&buffer, of: datagram) != nil, buffer.readInteger(as: UInt32.self) != nil else { return [] }
        }
        let records = Int(answers) + Int(authorities) + Int(additions)
        for _ in 0..<min(records, maximumRecords) {
            guard let name = readName(&buffer, of: datagram),
                let (type, kind, _, length) = buffer.readMultipleIntegers(
                    as: (UInt16, UInt16, UInt32, UInt16).self),
                let value = buffer.readSlice(length: Int(length))
            else { return found }
            // The top bit of the class flushes caches (RFC 6762 §10.2).
            guard kind & 0x7FFF == classInternet,
                type == typeA && length == 4 || type == typeAAAA && length == 16,
                let address = try? SocketAddress(packedIPAddress: value, port: 0)
            else { continue }
            found.append((name, address))
        }
        return found
    }

    /// The name in lower case; empty if it is not ASCII (for example a service's), because it is never queried here.
    private static func text(of name: [UInt8]) -> String {
        guard name.allSatisfy({ $0 < 0x80 }) else { return "" }
        return String(decoding: name, as: UTF8.self).lowercased()
    }

    /// Reads a name and follows its compression (RFC 1035 §4.1.4); `nil` when it is malformed.
    private static func readName(_ buffer: inout ByteBuffer, of whole: ByteBuffer) -> String? {
        var name: [UInt8] = []
        var byteCount = 0
        var jumps = 0
        var cursor = buffer
        var isInPlace = true
        while let length = cursor.readInteger(as: UInt8.self) {
            switch length {
            case 0:
                if isInPlace { buffer = cursor }
                return text(of: name)
            case 1...63:
                byteCount += Int(length) + 1
                guard byteCount <= 255, let label = cursor.readBytes(length: Int(length)) else { return nil }
                if !name.isEmpty { name.append(UInt8(ascii: ".")) }
                name += label
            case 0xC0...:
                guard let low = cursor.readInteger(as: UInt8.self), jumps < maximumJumps else { return nil }
                if isInPlace { buffer = cursor }
                isInPlace = false
                jumps += 1
                cursor = whole
                let offset = Int(length & 0x3F) << 8 | Int(low)
                guard offset < whole.readableBytes else { return nil }
                cursor.moveReaderIndex(forwardBy: offset)
            default:
                return nil
            }
        }
        return nil
    }
}
