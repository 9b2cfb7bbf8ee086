/// The names that browsers use to hide host addresses (draft-ietf-mmusic-mdns-ice-candidates §3.1.1): one label, which
/// is a UUID, and `.local`.
enum MDNSName {
    private static let suffix = ".local"

    /// The name in lower case; `nil` for any other name. Only one label, so that a peer cannot make us resolve hosts of
    /// its choice.
    static func normalized(_ text: some StringProtocol) -> String? {
        guard text.utf8.count <= 63 + suffix.utf8.count, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let name = text.lowercased()
        guard name.hasSuffix(suffix) else { return nil }
        let label = name.dropLast(suffix.count)
        let isLabel = label.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }
        return (1...63).contains(label.utf8.count) && isLabel ? name : nil
    }
}
