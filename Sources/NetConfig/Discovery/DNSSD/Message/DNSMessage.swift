/// One message of multicast DNS (RFC 6762 §18, RFC 1035 §4). Owns no socket.
struct DNSMessage: Hashable, Sendable {
    var id: UInt16 = 0
    var isResponse = false
    /// More known answers follow (RFC 6762 §7.2).
    var isTruncated = false
    var questions: [DNSQuestion] = []
    var answers: [DNSRecord] = []
    var authorities: [DNSRecord] = []
    var additions: [DNSRecord] = []

    /// RFC 6762 §17, including the headers of IP and UDP.
    static let maximumSize = 9_000
    /// The preferred size of a packet: an Ethernet frame's 1,500 bytes without the headers of IPv6 and UDP, and with a
    /// reserve for tunnels.
    static let packetSize = 1_400

    /// Splits `items` into runs that each fit into a packet. An item that does not fit gets its own run.
    static func runs<Item>(_ items: [Item], _ message: ([Item]) -> DNSMessage) -> [[Item]] {
        guard items.count > 1, message(items).encoded().count > packetSize else { return items.isEmpty ? [] : [items] }
        let middle = items.count / 2
        return runs(Array(items[..<middle]), message) + runs(Array(items[middle...]), message)
    }
}
