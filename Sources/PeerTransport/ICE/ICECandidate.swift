import IoTCore
import NIOCore

/// A transport address at which a peer may be reached (RFC 8445 §5.3), UDP and component 1 only.
struct ICECandidate: Sendable, Hashable {
    enum Kind: String, Sendable {
        case host
        case serverReflexive = "srflx"
        case peerReflexive = "prflx"
        case relayed = "relay"

        /// RFC 8445 §5.1.2.2.
        var typePreference: UInt32 {
            switch self {
            case .host: 126
            case .peerReflexive: 110
            case .serverReflexive: 100
            case .relayed: 0
            }
        }
    }

    var foundation: String
    var priority: UInt32
    var address: SocketAddress
    var kind: Kind

    /// RFC 8445 §5.1.2.1 for component 1.
    static func priority(_ kind: Kind, localPreference: UInt16) -> UInt32 {
        kind.typePreference << 24 | UInt32(localPreference) << 8 | 255
    }
}

extension ICECandidate {
    /// Reads `candidate:…` (RFC 8839 §5.1), with or without `a=` before it.
    ///
    /// `nil` for a well-formed candidate that is of no use here: another component, TCP, or a host name
    /// (names in `.local` are a browser's hidden addresses). Throws `sessionDescriptionInvalid` for anything else.
    init?(parsing text: some StringProtocol) throws(IoTError) {
        guard text.utf8.count <= 1024 else { throw Self.malformed("too long") }
        var line = Substring(text)
        if line.hasPrefix("a=") { line = line.dropFirst(2) }
        guard line.hasPrefix("candidate:") else { throw Self.malformed("no candidate") }
        let fields = line.dropFirst("candidate:".count).split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count >= 8, fields[6] == "typ", (1...32).contains(fields[0].utf8.count),
            let component = UInt16(fields[1]), (1...256).contains(component), let priority = UInt32(fields[3]),
            let port = UInt16(fields[5])
        else { throw Self.malformed("a field is missing or wrong") }
        guard component == 1, fields[2].lowercased() == "udp", let kind = Kind(rawValue: String(fields[7])),
            let address = try? SocketAddress(ipAddress: String(fields[4]), port: Int(port)), address.isReachableUnicast
        else { return nil }
        self.init(foundation: String(fields[0]), priority: priority, address: address, kind: kind)
    }

    /// `candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host`
    var text: String {
        "candidate:\(foundation) 1 udp \(priority) \(address.ipAddress ?? "") \(address.port ?? 0) typ \(kind.rawValue)"
    }

    private static func malformed(_ reason: String) -> IoTError {
        IoTError(.sessionDescriptionInvalid, "an ICE candidate is damaged: \(reason)")
    }
}

extension SocketAddress {
    /// False for what must never be sent to on a stranger's word: no port, unspecified, multicast, broadcast; and
    /// for IPv6 link-local addresses, which mean nothing without an interface.
    var isReachableUnicast: Bool {
        guard let port, port > 0 else { return false }
        let bytes = packedIPBytes
        guard bytes.contains(where: { $0 != 0 }) else { return false }
        if bytes.count == 4 { return bytes[0] != 0 && bytes[0] < 224 }
        return bytes[0] != 0xFF && !(bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
    }
}
