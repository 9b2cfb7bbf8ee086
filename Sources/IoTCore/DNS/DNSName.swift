/// A domain name. Names that differ only in the case of ASCII letters are equal (RFC 6762 §16).
package struct DNSName: Hashable, Sendable, CustomStringConvertible {
    /// Labels, each after its length, with the root's empty one last (RFC 1035 §3.1): at most 255 bytes.
    package let wire: [UInt8]
    /// `wire` in lower case. Lengths are below 64, so they are never letters.
    private let folded: [UInt8]

    package static let maximumSize = 255
    package static let maximumLabel = 63
    package static let root = DNSName(unchecked: [0])
    package static let local = DNSName(unchecked: [5] + Array("local".utf8) + [0])

    /// - Parameter wire: Whole labels that fit into `maximumSize`, and the root's.
    package init(unchecked wire: [UInt8]) {
        self.wire = wire
        folded = wire.contains(where: Self.isUpper) ? wire.map { Self.isUpper($0) ? $0 | 0x20 : $0 } : wire
    }

    /// This name with one more label in front; `nil` if the label is empty or something is too long.
    package func prefixed(by label: some Sequence<UInt8>) -> DNSName? {
        let label = Array(label)
        guard (1...Self.maximumLabel).contains(label.count), label.count + 1 + wire.count <= Self.maximumSize
        else { return nil }
        return DNSName(unchecked: [UInt8(label.count)] + label + wire)
    }

    /// The labels without the root's.
    package var labels: [ArraySlice<UInt8>] {
        var labels: [ArraySlice<UInt8>] = []
        var place = 0
        while wire[place] != 0 {
            let end = place + 1 + Int(wire[place])
            labels.append(wire[(place + 1)..<end])
            place = end
        }
        return labels
    }

    /// The name without its first label; `nil` for the root.
    package var parent: DNSName? {
        wire[0] == 0 ? nil : DNSName(unchecked: Array(wire[(Int(wire[0]) + 1)...]))
    }

    /// With dots and without escapes, for hosts and tests. Unreadable bytes are replaced.
    package var description: String {
        labels.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
    }

    package static func == (left: DNSName, right: DNSName) -> Bool { left.folded == right.folded }

    package func hash(into hasher: inout Hasher) { hasher.combine(folded) }

    private static func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
}
