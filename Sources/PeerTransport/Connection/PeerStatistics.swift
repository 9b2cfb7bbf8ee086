public import NIOCore
public import RTP

/// What a peer connection has counted. Names as in W3C webrtc-stats; counters only grow.
public struct PeerStatistics: Sendable {
    /// RTCTransportStats.
    public var packetsSent: UInt64 = 0
    public var packetsReceived: UInt64 = 0
    /// UDP payload.
    public var bytesSent: UInt64 = 0
    public var bytesReceived: UInt64 = 0
    public var iceRole = ""
    public var dtlsRole = ""
    public var dtlsCipher = ""
    public var srtpCipher = ""
    public var selectedCandidatePairChanges = 0

    /// RTCIceCandidatePairStats of the selected pair's address and of all checks.
    public var remoteAddress: SocketAddress?
    public var requestsSent = 0
    public var requestsReceived = 0
    public var responsesSent = 0
    public var responsesReceived = 0
    public var consentRequestsSent = 0
    /// `nil` before the first answered check.
    public var currentRoundTripTime: TimeAmount?
    public var totalRoundTripTime = TimeAmount.zero

    /// Every pair that was formed and not given up, and the candidates of both sides.
    public var candidatePairs: [ICECandidatePairStatistics] = []
    public var localCandidates: [ICECandidateStatistics] = []
    public var remoteCandidates: [ICECandidateStatistics] = []

    /// The estimate of what the way to the peer carries, bits a second; `nil` when nothing is sent.
    public var availableOutgoingBitrate: Int?

    /// What lately arrived at the peer, bits a second, and media packets that wait for the pacer; not in W3C's list.
    public var acknowledgedBitrate: Int?
    public var packetsQueuedByPacer = 0

    /// Media packets that were dropped because the outgoing queue was full.
    public var packetsDiscardedOnSend: UInt64 = 0

    /// Datagrams that were ignored: from strangers, or of no known protocol.
    public var datagramsIgnored: UInt64 = 0

    /// Packets that came from the peer's address and could not be decrypted, or were replayed.
    public var packetsUndecryptable: UInt64 = 0

    /// RTCPeerConnectionStats.
    public var dataChannelsOpened: UInt64 = 0
    public var dataChannelsClosed: UInt64 = 0

    /// RTCDataChannelStats of the channels that there are, in the order of their making.
    public var dataChannels: [DataChannelStatistics] = []

    /// RTCSctpTransportStats; `nil` without data channels.
    public var sctpTransport: SCTPTransportStatistics?

    /// RTCOutboundRtpStreamStats and RTCInboundRtpStreamStats by section.
    public var outbound: [String: RTPSenderStatistics] = [:]
    public var inbound: [String: RTPReceiverStatistics] = [:]

    /// RTCRemoteInboundRtpStreamStats: what the peer's reports say of what we send, by section.
    public var remoteInbound: [String: RemoteInboundStatistics] = [:]
}
