import NIOCore

/// The traffic of one candidate pair, named as in W3C's RTCIceCandidatePairStats.
struct PairTraffic: Sendable {
    /// Excluding ICE's own checks.
    var packetsSent: UInt64 = 0
    var packetsReceived: UInt64 = 0
    var bytesSent: UInt64 = 0
    var bytesReceived: UInt64 = 0
    var requestsSent = 0
    var requestsReceived = 0
    var responsesSent = 0
    var responsesReceived = 0
    var consentRequestsSent = 0
    var currentRoundTripTime: TimeAmount?
    var totalRoundTripTime = TimeAmount.zero
}
