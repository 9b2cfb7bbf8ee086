public import NIOCore

/// W3C's RTCIceCandidateStats.
public struct ICECandidateStatistics: Sendable, Hashable {
    /// `host`, `srflx`, `prflx` or `relay`.
    public var candidateType: String
    public var address: String
    public var port: Int

    /// The candidate's own protocol: always `udp`.
    public var candidateProtocol: String
    public var priority: UInt32
    public var foundation: String
    public var relatedAddress: String?
    public var relatedPort: Int?

    /// The server's URL, and for a relay the transport to it: `udp`, `tcp` or `tls`.
    public var url: String?
    public var relayProtocol: String?

    init(_ candidate: ICECandidate) {
        candidateType = candidate.kind.rawValue
        address = candidate.name ?? candidate.address.ipAddress ?? ""
        port = candidate.address.port ?? 0
        candidateProtocol = "udp"
        priority = candidate.priority
        foundation = candidate.foundation
        relatedAddress = candidate.related?.ipAddress
        relatedPort = candidate.related?.port
        url = candidate.url
        relayProtocol = candidate.relayTransport?.rawValue
    }
}

/// W3C's RTCIceCandidatePairStats.
public struct ICECandidatePairStatistics: Sendable, Hashable {
    public var local: ICECandidateStatistics
    public var remote: ICECandidateStatistics

    /// `waiting`, `in-progress`, `succeeded` or `failed`.
    public var state: String
    public var nominated: Bool

    /// True when data use this pair; in W3C's terms, the transport's `selectedCandidatePairId`.
    public var isSelected: Bool

    /// RFC 8445 §6.1.2.3.
    public var priority: UInt64

    /// Excluding ICE's own checks.
    public var packetsSent: UInt64
    public var packetsReceived: UInt64
    public var bytesSent: UInt64
    public var bytesReceived: UInt64
    public var requestsSent: Int
    public var requestsReceived: Int
    public var responsesSent: Int
    public var responsesReceived: Int
    public var consentRequestsSent: Int
    public var currentRoundTripTime: TimeAmount?
    public var totalRoundTripTime: TimeAmount

    init(
        _ pair: CandidatePair, local: ICECandidate, traffic: PairTraffic, isSelected: Bool, isControlling: Bool
    ) {
        self.local = ICECandidateStatistics(local)
        remote = ICECandidateStatistics(pair.remote)
        switch pair.state {
        case .waiting: state = "waiting"
        case .inProgress: state = "in-progress"
        case .succeeded: state = "succeeded"
        case .failed: state = "failed"
        }
        nominated = pair.isNominated
        self.isSelected = isSelected
        priority = pair.priority(isControlling: isControlling)
        packetsSent = traffic.packetsSent
        packetsReceived = traffic.packetsReceived
        bytesSent = traffic.bytesSent
        bytesReceived = traffic.bytesReceived
        requestsSent = traffic.requestsSent
        requestsReceived = traffic.requestsReceived
        responsesSent = traffic.responsesSent
        responsesReceived = traffic.responsesReceived
        consentRequestsSent = traffic.consentRequestsSent
        currentRoundTripTime = traffic.currentRoundTripTime
        totalRoundTripTime = traffic.totalRoundTripTime
    }
}
