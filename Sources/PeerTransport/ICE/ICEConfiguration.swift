public import NIOCore

/// The timing and bounds of ICE.
public struct ICEConfiguration: Sendable {
    /// Ta: the least time between two new checks. 20 ms; RFC 8445 §14.2 allows 5 ms and more.
    public var pacing: TimeAmount

    /// The wait before a check is first sent again; it doubles each time. 250 ms, as the paths are short.
    public var retransmission: TimeAmount

    /// How often one check is sent before its pair has failed: 6.
    public var transmissions: Int

    /// The middle of the time between two consent checks, each ±20 %: 5 s (RFC 7675 §5.1).
    public var consentInterval: TimeAmount

    /// After this time without an answer to a consent check nothing may be sent, and the peer has failed: 30 s.
    public var consentExpiry: TimeAmount

    /// After this time without anything authentic from the peer it counts as disconnected, which may pass: 7 s.
    public var disconnectedAfter: TimeAmount

    /// How many candidates of the peer are used, discovered ones included: 100. Further ones are ignored.
    public var maximumRemoteCandidates: Int

    public init(
        pacing: TimeAmount = .milliseconds(20), retransmission: TimeAmount = .milliseconds(250),
        transmissions: Int = 6, consentInterval: TimeAmount = .seconds(5), consentExpiry: TimeAmount = .seconds(30),
        disconnectedAfter: TimeAmount = .seconds(7), maximumRemoteCandidates: Int = 100
    ) {
        self.pacing = pacing
        self.retransmission = retransmission
        self.transmissions = transmissions
        self.consentInterval = consentInterval
        self.consentExpiry = consentExpiry
        self.disconnectedAfter = disconnectedAfter
        self.maximumRemoteCandidates = maximumRemoteCandidates
    }
}
