/// One message of multicast DNS (RFC 6762 §18, RFC 1035 §4). Owns no socket.
package struct DNSMessage: Hashable, Sendable {
    package var id: UInt16 = 0
    package var isResponse = false
    /// More known answers follow (RFC 6762 §7.2).
    package var isTruncated = false
    package var questions: [DNSQuestion] = []
    package var answers: [DNSRecord] = []
    package var authorities: [DNSRecord] = []
    package var additions: [DNSRecord] = []

    package init(
        id: UInt16 = 0, isResponse: Bool = false, isTruncated: Bool = false, questions: [DNSQuestion] = [],
        answers: [DNSRecord] = [], authorities: [DNSRecord] = [], additions: [DNSRecord] = []
    ) {
        self.id = id
        self.isResponse = isResponse
        self.isTruncated = isTruncated
        self.questions = questions
        self.answers = answers
        self.authorities = authorities
        self.additions = additions
    }

    /// RFC 6762 §17, including the headers of IP and UDP.
    package static let maximumSize = 9_000
    /// The preferred size of a packet: an Ethernet frame's 1,500 bytes without the headers of IPv6 and UDP, and with a
    /// reserve for tunnels.
    package static let packetSize = 1_400

    /// Splits `items` into runs that each fit into a packet. An item that does not fit gets its own run.
    package static func runs<Item>(_ items: [Item], _ message: ([Item]) -> DNSMessage) -> [[Item]] {
        guard items.count > 1, message(items).encoded().count > packetSize else { return items.isEmpty ? [] : [items] }
        let middle = items.count / 2
        return runs(Array(items[..<middle]), message) + runs(Array(items[middle...]), message)
    }
}
