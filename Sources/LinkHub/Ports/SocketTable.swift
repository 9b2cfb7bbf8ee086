import Glibc

/// The kernel's table of one protocol's sockets: `/proc/net/tcp` and similar files (proc(5)).
struct SocketTable: Equatable {
    struct Entry: Equatable {
        /// In network order: 4 bytes, or 16.
        var address: [UInt8]
        var port: Int
        var isListening: Bool
        var user: uid_t
        var inode: UInt64
    }

    private(set) var entries: [Entry] = []

    /// Skips lines of another form, such as the heading.
    init(parsing text: String) {
        entries = text.split(separator: "\n").compactMap(Self.entry)
    }

    /// The columns: sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode.
    private static func entry(_ line: Substring) -> Entry? {
        let columns = line.split(separator: " ")
        guard columns.count >= 10, let user = uid_t(columns[7]), let inode = UInt64(columns[9]) else { return nil }
        let place = columns[1].split(separator: ":")
        guard place.count == 2, let address = bytes(place[0]), let port = Int(place[1], radix: 16) else { return nil }
        // TCP_LISTEN is 10. UDP has no listening state: a bound port is in use.
        return Entry(address: address, port: port, isListening: columns[3] == "0A", user: user, inode: inode)
    }

    /// An address is printed as 32-bit words in the machine's byte order.
    private static func bytes(_ text: Substring) -> [UInt8]? {
        guard text.utf8.count == 8 || text.utf8.count == 32 else { return nil }
        var bytes: [UInt8] = []
        var rest = text
        while !rest.isEmpty {
            guard let word = UInt32(rest.prefix(8), radix: 16) else { return nil }
            withUnsafeBytes(of: word) { bytes += $0 }
            rest = rest.dropFirst(8)
        }
        return bytes
    }

    /// The first socket that prevents another from binding to the address and port.
    func holder(of address: [UInt8], port: Int, mustListen: Bool) -> Entry? {
        entries.first { entry in
            entry.port == port && (entry.isListening || !mustListen) && Self.overlap(entry.address, address)
        }
    }

    private static func overlap(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let (left, right) = (unmapped(left), unmapped(right))
        return left == right || left.allSatisfy { $0 == 0 } || right.allSatisfy { $0 == 0 }
    }

    /// An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) equals the IPv4 address.
    private static func unmapped(_ address: [UInt8]) -> [UInt8] {
        let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return address.count == 16 && address.starts(with: prefix) ? Array(address.dropFirst(12)) : address
    }
}
