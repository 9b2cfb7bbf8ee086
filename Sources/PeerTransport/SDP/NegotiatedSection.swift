import IoTCore
import RTP

/// The result of offer and answer for one section, from our point of view (RFC 3264, RFC 8829 §5.3).
struct NegotiatedSection: Sendable {
    var mid: String
    var kind: MediaKind
    var direction: MediaSection.Direction

    /// The codec that we send; `nil` when we do not send.
    var sendingCodec: RTPCodec?

    /// The codecs that may arrive, with the payload types of our own description; empty when we do not receive.
    var receivingCodecs: [RTPCodec]

    /// The payload type of our repairs; `nil` when lost packets are sent again unchanged.
    var sendingRetransmissionType: UInt8?

    /// The payload types of incoming repairs, each with the payload type that it repairs.
    var receivingRetransmissionTypes: [UInt8: UInt8] = [:]

    var localSSRC: UInt32
    var localRetransmissionSSRC: UInt32?
    var remoteSSRC: UInt32?
    var remoteRetransmissionSSRC: UInt32?
    var feedback: Set<MediaSection.Feedback>
    var headerExtensions = HeaderExtensionIdentifiers()
    var allowsReducedSizeRTCP: Bool
}
