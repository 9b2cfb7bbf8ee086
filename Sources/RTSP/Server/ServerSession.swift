import IoTCore
import NIOCore

/// A session of a server's connection (RFC 2326 §A.2). It ends with the connection.
struct ServerSession: Sendable {
    let identifier: String
    let path: StreamPath
    /// In the order of their SETUP.
    private(set) var tracks: [ServedTrack] = []
    var isPlaying = false
    /// The time of the player's last request or report.
    var lastHeard: NIODeadline

    init(identifier: String, path: StreamPath, at now: NIODeadline) {
        self.identifier = identifier
        self.path = path
        lastHeard = now
    }

    mutating func add(_ track: ServedTrack) { tracks.append(track) }

    var usesDatagrams: Bool {
        tracks.contains { if case .datagrams = $0.transport { true } else { false } }
    }

    /// Chooses the first requested transport that is possible.
    ///
    /// - Parameters:
    ///   - peer: The client's address. A `destination` elsewhere is refused.
    ///   - allowsDatagrams: Whether packets may leave by UDP.
    func choose(
        _ offered: [TransportHeader], peer: IPAddress?, allowsDatagrams: Bool, index: Int
    ) -> ServedTrack.Transport? {
        for transport in offered where isPossible(transport, peer: peer) {
            switch transport.lowerTransport {
            case .tcp where tracks.isEmpty || !usesDatagrams:
                return channels(transport.interleaved, index: index).map(ServedTrack.Transport.interleaved)
            case .udp where allowsDatagrams && (tracks.isEmpty || usesDatagrams):
                guard let ports = transport.clientPorts, Self.isUsable(ports), !isTaken(ports) else { continue }
                return .datagrams(ports)
            default: continue
            }
        }
        return nil
    }

    private func isPossible(_ transport: TransportHeader, peer: IPAddress?) -> Bool {
        guard transport.profile == .avp, transport.isMulticast != true, transport.mode ?? "PLAY" == "PLAY" else {
            return false
        }
        guard let destination = transport.destination else { return true }
        return IPAddress(destination).map { $0 == peer } ?? false
    }

    /// Whether the ports are at least 1024. Lower ports belong to services, which must not receive media.
    private static func isUsable(_ ports: TransportHeader.Pair<UInt16>) -> Bool {
        ports.rtp >= 1_024 && ports.rtcp >= 1_024 && ports.rtp != ports.rtcp
    }

    private func isTaken(_ ports: TransportHeader.Pair<UInt16>) -> Bool {
        tracks.contains { track in
            guard case .datagrams(let other) = track.transport else { return false }
            return !Set([other.rtp, other.rtcp]).isDisjoint(with: [ports.rtp, ports.rtcp])
        }
    }

    /// The requested channels; other channels if they are in use.
    private func channels(_ wanted: TransportHeader.Pair<UInt8>?, index: Int) -> TransportHeader.Pair<UInt8>? {
        var taken: Set<UInt8> = []
        for case .interleaved(let pair) in tracks.map(\.transport) { taken.formUnion([pair.rtp, pair.rtcp]) }
        if let wanted, wanted.rtp != wanted.rtcp, taken.isDisjoint(with: [wanted.rtp, wanted.rtcp]) { return wanted }
        let first = stride(from: UInt8(0), to: 254, by: 2).first { taken.isDisjoint(with: [$0, $0 + 1]) }
        return first.map { TransportHeader.Pair($0, $0 + 1) }
    }

    /// The track whose reports arrive on a channel.
    func track(reportingOn channel: UInt8) -> Int? {
        tracks.first {
            if case .interleaved(let pair) = $0.transport { pair.rtcp == channel } else { false }
        }?.index
    }
}
