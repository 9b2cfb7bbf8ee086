import NIOCore

/// The agent's counters, named as in W3C's RTCIceCandidatePairStats where it has them.
struct ICECounters: Sendable {
    var requestsSent = 0
    var requestsReceived = 0
    var responsesSent = 0
    var responsesReceived = 0
    var consentRequestsSent = 0
    var selectedCandidatePairChanges = 0
    var candidatesIgnored = 0
    /// The round-trip time of the last check that was answered without a retransmission.
    var currentRoundTripTime: TimeAmount?
    var totalRoundTripTime = TimeAmount.zero
}
