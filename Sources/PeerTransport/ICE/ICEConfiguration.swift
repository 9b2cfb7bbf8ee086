public import NIOCore

/// The servers, timing and limits of ICE.
public struct ICEConfiguration: Sendable {
    /// W3C's RTCIceTransportPolicy.
    public enum TransportPolicy: String, Sendable {
        case all
        /// Only through our relays: the peer learns none of our addresses.
        case relay
    }

    /// STUN and TURN servers; only the first 8 are used. Default none: only host candidates.
    public var servers: [ICEServer]

    public var transportPolicy: TransportPolicy

    /// Refuses servers on this machine or its link, and redirects to there: for servers that somebody else has
    /// configured. Default false.
    public var refusesLocalServers = false

    /// URLs of servers that recently gave no response. They are queried like the others, but gathering does not wait
    /// for them; late results are still used. Default none.
    public var serversNotAwaited: Set<String> = []

    /// PEM of the authorities that certify `turns:` servers. Default `nil`: the system's authorities.
    public var certificateAuthorities: String?

    /// Takes part in ICE without sending checks (RFC 8445 §2.5), for a host that is reachable by everybody: only host
    /// candidates, and the peer must be a full agent. Default false.
    public var isLite: Bool

    /// How long the controlling side waits for a path without a relay when a path with a relay works: 600 ms.
    public var relayAcceptanceDelay: TimeAmount

    /// The same wait for a path to an address that the peer has not signalled, which may be its relay: 200 ms.
    public var reflexiveAcceptanceDelay: TimeAmount

    /// The delay of TCP after UDP, and of TLS after TCP, towards a relay: 300 ms each.
    public var relayStagger: TimeAmount

    /// After this time gathering is complete, even if a server has not responded: 10 s.
    public var gatheringTimeout: TimeAmount

    /// Ta: the least time between two new checks. 20 ms; RFC 8445 §14.2 allows 5 ms or more.
    public var pacing: TimeAmount

    /// The time until a check is first sent again; it doubles each time. 250 ms, because the paths are short.
    public var retransmission: TimeAmount

    /// How often one check is sent before its pair fails: 6.
    public var transmissions: Int

    /// The mean time between two consent checks, each ±20 %: 5 s (RFC 7675 §5.1).
    public var consentInterval: TimeAmount

    /// After this time without a response to a consent check, nothing may be sent and the peer has failed: 30 s.
    public var consentExpiry: TimeAmount

    /// After this time without an authentic packet the peer counts as disconnected, which may be temporary: 7 s.
    public var disconnectedAfter: TimeAmount

    /// The limit for the peer's candidates and for the pairs, discovered ones included: 100. At the limit, a new one
    /// replaces one that has failed, does not respond, or has lower priority. An address from which the peer itself
    /// has checked always gets a pair.
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
