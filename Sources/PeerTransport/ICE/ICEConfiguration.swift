public import NIOCore

/// The servers, timing and bounds of ICE.
public struct ICEConfiguration: Sendable {
    /// W3C's RTCIceTransportPolicy.
    public enum TransportPolicy: String, Sendable {
        case all
        /// Only through our relays: the peer learns no address of ours.
        case relay
    }

    /// STUN and TURN servers; the first 8 count. Default none: host candidates alone.
    public var servers: [ICEServer]

    public var transportPolicy: TransportPolicy

    /// Servers may not lie on this machine or its link, nor send us on to there: for servers that somebody else has
    /// named. Default false.
    public var refusesLocalServers = false

    /// URLs of servers that lately gave no answer. They are asked like the others, but gathering is complete without
    /// them; what they give later is used all the same. Default none.
    public var serversNotAwaited: Set<String> = []

    /// PEM of the authorities that certify `turns:` servers, in place of the system's. Default `nil`: the system's.
    public var certificateAuthorities: String?

    /// Takes part without sending checks (RFC 8445 §2.5), for a host that everybody can reach: host candidates only,
    /// and the peer has to be a full agent. Default false.
    public var isLite: Bool

    /// How long the controlling side goes on looking for a way without a relay once one with a relay works: 600 ms.
    public var relayAcceptanceDelay: TimeAmount

    /// The same for a way to an address that the peer has not signalled, which may be its relay: 200 ms.
    public var reflexiveAcceptanceDelay: TimeAmount

    /// By how much the TCP and TLS ways to a relay come after UDP: 300 ms each.
    public var relayStagger: TimeAmount

    /// After this time candidates are complete, whatever a server still owes: 10 s.
    public var gatheringTimeout: TimeAmount

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

    /// How many candidates of the peer are kept, and how many pairs are formed with them, discovered ones included:
    /// 100. One more takes the place of one that has failed, that does not answer, or that is worth less; an address
    /// from which the peer itself has checked always has a pair.
    public var maximumRemoteCandidates: Int

    public init(
        pacing: TimeAmount = .milliseconds(20), retransmission: TimeAmount = .milliseconds(250),
        transmissions: Int = 6, consentInterval: TimeAmount = .seconds(5), consentExpiry: TimeAmount = .seconds(30),
        disconnectedAfter: TimeAmount = .seconds(7), maximumRemoteCandidates: Int = 100, servers: [ICEServer] = [],
        transportPolicy: TransportPolicy = .all, isLite: Bool = false
    ) {
        self.servers = servers
        self.transportPolicy = transportPolicy
        self.isLite = isLite
        relayAcceptanceDelay = .milliseconds(600)
        reflexiveAcceptanceDelay = .milliseconds(200)
        relayStagger = .milliseconds(300)
        gatheringTimeout = .seconds(10)
        self.pacing = pacing
        self.retransmission = retransmission
        self.transmissions = transmissions
        self.consentInterval = consentInterval
        self.consentExpiry = consentExpiry
        self.disconnectedAfter = disconnectedAfter
        self.maximumRemoteCandidates = maximumRemoteCandidates
    }
}
