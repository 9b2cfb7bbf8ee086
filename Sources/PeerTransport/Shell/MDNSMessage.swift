import IoTCore
import NIOCore

/// The subset of multicast DNS that resolves a name (RFC 6762).
enum MDNSMessage {
    static let port = 5353

    /// A query for a name's IPv4 and IPv6 addresses; `nil` if it is not a domain name.
    static func query(_ name: String) -> ByteBuffer? {
        var domain = DNSName.root
        for label in name.split(separator: ".").reversed() {
            guard let longer = domain.prefixed(by: label.utf8) else { return nil }
            domain = longer
        }
        let questions = [DNSRecordType.a, DNSRecordType.aaaa].map { DNSQuestion(name: domain, type: $0) }
        return ByteBuffer(bytes: DNSMessage(questions: questions).encoded())
    }

    /// The addresses in a response, with names in lower case and port 0; empty for any other datagram.
    ///
    /// Names that are not ASCII (for example a service's) are left out, because they are never queried here.
    static func addresses(in datagram: ByteBuffer) -> [(name: String, address: SocketAddress)] {
        guard let message = DNSMessage(parsing: Array(datagram.readableBytesView)), message.isResponse
        else { return [] }
        return (message.answers + message.authorities + message.additions).compactMap { record in
            guard case .address(let bytes) = record.value, record.name.wire.allSatisfy({ $0 < 0x80 }),
                let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0)
            else { return nil }
            return (record.name.description.lowercased(), address)
        }
    }
}
