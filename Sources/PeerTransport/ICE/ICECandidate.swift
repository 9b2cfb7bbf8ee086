import IoTCore
import NIOCore

/// A transport address at which a peer may be reached (RFC 8445 §5.3). Only UDP and component 1.
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

    /// The base of a reflexive candidate, the mapped address of a relayed one (RFC 8839 §5.1).
    var related: SocketAddress?

    /// A `.local` name, which hides the address until it is resolved; until then `address` has only the port.
    var name: String?

    /// The peer's user name fragment for this candidate, if signalled (RFC 8838 §3, as browsers do).
    var ufrag: String?

    /// For a local candidate: the server's URL, and the transport to its relay.
    var url: String?
    var relayTransport: RelayEndpoint.Transport?

    /// RFC 8445 §5.1.2.1 for component 1.
    static func priority(_ kind: Kind, localPreference: UInt16) -> UInt32 {
        kind.typePreference << 24 | UInt32(localPreference) << 8 | 255
    }
}

extension ICECandidate {
    /// Parses `candidate:…` (RFC 8839 §5.1), with or without a leading `a=`.
    ///
    /// Returns `nil` for a well-formed candidate that cannot be used: another component, TCP, or a host name other than
    /// a browser's `.local` name. Throws `sessionDescriptionInvalid` for anything else.
    init?(parsing text: some StringProtocol) throws(IoTError) {
        guard text.utf8.count <= 1024 else { throw Self.malformed("too long") }
        guard text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { throw Self.malformed("not ASCII") }
        var line = Substring(text)
        if line.hasPrefix("a=") { line = line.dropFirst(2) }
        guard line.hasPrefix("candidate:") else { throw Self.malformed("not a candidate") }
        let fields = line.dropFirst("candidate:".count).split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count >= 8, fields[6] == "typ", (1...32).contains(fields[0].utf8.count),
            let component = UInt16(fields[1]), (1...256).contains(component), let priority = UInt32(fields[3]),
            let port = UInt16(fields[5])
        else { throw Self.malformed("a field is missing or wrong") }
        guard component == 1, fields[2].lowercased() == "udp", let kind = Kind(rawValue: String(fields[7])), port > 0
        else { return nil }
        if let address = try? SocketAddress(ipAddress: String(fields[4]), port: Int(port)) {
            guard address.isReachableUnicast else { return nil }
            self.init(foundation: String(fields[0]), priority: priority, address: address, kind: kind)
        } else {
            guard let name = MDNSName.normalized(fields[4]),
                let address = try? SocketAddress(ipAddress: "0.0.0.0", port: Int(port))
            else { return nil }
            self.init(foundation: String(fields[0]), priority: priority, address: address, kind: kind)
            self.name = name
        }
        // The rest are pairs of a name and a value.
        var extensions = fields.dropFirst(8)
        var relatedHost: Substring?
        while let key = extensions.popFirst(), let value = extensions.popFirst() {
            switch key {
            case "raddr": relatedHost = value
            case "rport":
                related = relatedHost.flatMap { host in
                    UInt16(value).flatMap { try? SocketAddress(ipAddress: String(host), port: Int($0)) }
                }
            case "ufrag":
                // A malformed user name fragment belongs to no generation.
                guard ICECredentials.isFragment(value) else { return nil }
                ufrag = String(value)
            default: break
            }
        }
    }

    /// `candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host`
    var text: String {
        var text =
            "candidate:\(foundation) 1 udp \(priority) \(name ?? address.ipAddress ?? "") \(address.port ?? 0) "
            + "typ \(kind.rawValue)"
        if kind != .host, let related {
            text += " raddr \(related.ipAddress ?? "") rport \(related.port ?? 0)"
        }
        return text
    }

    private static func malformed(_ reason: String) -> IoTError {
        IoTError(.sessionDescriptionInvalid, "an ICE candidate is malformed: \(reason)")
    }
}
