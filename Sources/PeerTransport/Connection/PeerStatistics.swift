public import NIOCore
public import RTP

/// The statistics of a peer connection. Names as in W3C webrtc-stats; counters only grow.
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

    /// RTCIceCandidatePairStats: the selected pair's address, and totals over all checks.
    public var remoteAddress: SocketAddress?
    public var requestsSent = 0
    public var requestsReceived = 0
    public var responsesSent = 0
    public var responsesReceived = 0
    public var consentRequestsSent = 0
    /// `nil` before the first answered check.
    public var currentRoundTripTime: TimeAmount?
    public var totalRoundTripTime = TimeAmount.zero

    /// All pairs that exist now, and the candidates of both sides.
    public var candidatePairs: [ICECandidatePairStatistics] = []
    public var localCandidates: [ICECandidateStatistics] = []
    public var remoteCandidates: [ICECandidateStatistics] = []

    /// The estimated capacity of the path to the peer, in bits per second; `nil` when nothing is sent.
    public var availableOutgoingBitrate: Int?

    /// The recent arrival rate at the peer in bits per second, and the media packets in the pacer; not in W3C's list.
    public var acknowledgedBitrate: Int?
    public var packetsQueuedByPacer = 0

    /// Media packets that were dropped because the outgoing queue was full.
    public var packetsDiscardedOnSend: UInt64 = 0

    /// Datagrams that were ignored: from strangers, or of an unknown protocol.
    public var datagramsIgnored: UInt64 = 0

    /// Packets from the peer's address that could not be decrypted or were replayed.
    public var packetsUndecryptable: UInt64 = 0

    /// RTCPeerConnectionStats.
    public var dataChannelsOpened: UInt64 = 0
    public var dataChannelsClosed: UInt64 = 0

    /// RTCDataChannelStats of the existing channels, in order of creation.
    public var dataChannels: [DataChannelStatistics] = []

    /// RTCSctpTransportStats; `nil` without data channels.
    public var sctpTransport: SCTPTransportStatistics?

    /// RTCOutboundRtpStreamStats and RTCInboundRtpStreamStats by section.
    public var outbound: [String: RTPSenderStatistics] = [:]
    public var inbound: [String: RTPReceiverStatistics] = [:]

    /// RTCRemoteInboundRtpStreamStats: the peer's reports about what we send, by section.
    public var remoteInbound: [String: RemoteInboundStatistics] = [:]
}
