import IoTCore
import RTP

/// What offer and answer agree on for one section, as we see it (RFC 3264, RFC 8829 §5.3).
struct NegotiatedSection: Sendable {
    var mid: String
    var kind: MediaKind
    var direction: MediaSection.Direction

    /// What we send; `nil` when we do not.
    var sendingCodec: RTPCodec?

    /// What may come, under the payload types of our own description; empty when nothing does.
    var receivingCodecs: [RTPCodec]

    /// The payload type of our repairs; `nil` when lost packets go out again as they were.
    var sendingRetransmissionType: UInt8?

    /// The payload types of repairs that may come, with the payload type that each repairs.
    var receivingRetransmissionTypes: [UInt8: UInt8] = [:]

    var localSSRC: UInt32
    var localRetransmissionSSRC: UInt32?
    var remoteSSRC: UInt32?
    var remoteRetransmissionSSRC: UInt32?
    var feedback: Set<MediaSection.Feedback>
    var headerExtensions = HeaderExtensionIdentifiers()
    var allowsReducedSizeRTCP: Bool
}
