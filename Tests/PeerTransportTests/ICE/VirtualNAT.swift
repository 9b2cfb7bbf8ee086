import NIOCore

@testable import PeerTransport

/// A network address translator of one of the four kinds of RFC 3489 §5, or one that blocks UDP.
struct VirtualNAT {
    enum Kind: String, CaseIterable, Sendable {
        case fullCone
        case addressRestricted
        case portRestricted
        case symmetric
        case udpBlocked

        static let translating: [Kind] = [.fullCone, .addressRestricted, .portRestricted, .symmetric]
    }

    /// The inside address and, for the symmetric kind, the destination.
    private struct Key: Hashable {
        var inside: SocketAddress
        var destination: SocketAddress?
    }

    private struct Mapping {
        var inside: SocketAddress
        var outside: SocketAddress
        var destinations: Set<SocketAddress> = []
        var lastUsed: NIODeadline
    }

    let kind: Kind
    let address: String
    private var mappings: [Key: Mapping] = [:]
    private var nextPort = 20_000
    /// RFC 4787 requires two minutes; real ones are often shorter.
    private static let lifetime = TimeAmount.seconds(30)

    init(_ kind: Kind, address: String) {
        self.kind = kind
        self.address = address
    }

    /// The source address after translation; `nil` when the datagram is blocked.
    mutating func send(
        from inside: SocketAddress, to destination: SocketAddress, at now: NIODeadline
    ) throws -> SocketAddress? {
        guard kind != .udpBlocked else { return nil }
        let key = Key(inside: inside, destination: kind == .symmetric ? destination : nil)
        var mapping: Mapping
        if let known = mappings[key], now < known.lastUsed + Self.lifetime {
            mapping = known
        } else {
            nextPort += 1
            mapping = Mapping(
                inside: inside, outside: try SocketAddress(ipAddress: address, port: nextPort), lastUsed: now)
        }
        mapping.destinations.insert(destination)
        mapping.lastUsed = now
        mappings[key] = mapping
        return mapping.outside
    }

    /// The inside address for a datagram from outside; `nil` when it is dropped.
    func receive(from source: SocketAddress, to outside: SocketAddress, at now: NIODeadline) -> SocketAddress? {
        guard let mapping = mappings.values.first(where: { $0.outside == outside }),
            now < mapping.lastUsed + Self.lifetime
        else { return nil }
        let isAllowed =
            switch kind {
            case .fullCone: true
            case .addressRestricted:
                mapping.destinations.contains { $0.packedIPBytes == source.packedIPBytes }
            case .portRestricted, .symmetric: mapping.destinations.contains(source)
            case .udpBlocked: false
            }
        return isAllowed ? mapping.inside : nil
    }
}
