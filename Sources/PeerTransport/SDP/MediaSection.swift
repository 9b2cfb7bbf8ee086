public import IoTCore
public import RTP

/// One `m=` section of a session description (RFC 8866 §5.14), with at most one track in each direction.
public struct MediaSection: Sendable, Hashable {
    /// The direction of media, from the author's point of view (RFC 8866 §6.7).
    public enum Direction: String, Sendable, CaseIterable {
        case sendOnly = "sendonly"
        case receiveOnly = "recvonly"
        case sendReceive = "sendrecv"
        case inactive

        public init(sends: Bool, receives: Bool) {
            self = sends ? (receives ? .sendReceive : .sendOnly) : (receives ? .receiveOnly : .inactive)
        }

        public var sends: Bool { self == .sendOnly || self == .sendReceive }
        public var receives: Bool { self == .receiveOnly || self == .sendReceive }

        /// The direction from the other side's point of view.
        public var reversed: Direction { Direction(sends: receives, receives: sends) }
    }

    /// The feedback messages that a receiver may send (RFC 4585 §4.2, RFC 5104 §7.1).
    public enum Feedback: String, Sendable, CaseIterable {
        case nack
        case pictureLossIndication = "nack pli"
        case fullIntraRequest = "ccm fir"
        /// draft-alvestrand-rmcat-remb-03.
        case receiverEstimatedMaximumBitrate = "goog-remb"
        /// draft-holmer-rmcat-transport-wide-cc-extensions-01; also needs its header extension.
        case transportWide = "transport-cc"
    }

    /// The section's name, a token of at most 32 bytes (RFC 5888 §4).
    public var mid: String
    public var kind: MediaKind
    public var direction: Direction

    /// In order of preference, with unique payload types. Repair streams (`rtx`) follow the codecs.
    public var codecs: [RTPCodec]

    /// The SSRC of the author's media; `nil` in a description without one.
    public var ssrc: UInt32?

    /// The SSRC of the author's repairs (RFC 4588, `a=ssrc-group:FID`); `nil` for none.
    public var retransmissionSSRC: UInt32?

    /// `a=msid`: the names of stream and track (RFC 8830), `stream track`; `nil` for none.
    public var mediaStreamID: String?

    /// The header extensions that the author supports.
    public var headerExtensions: [HeaderExtensionMapping] = []

    /// The author's canonical name, which groups its tracks; empty for none.
    public var cname: String

    public var feedback: Set<Feedback>

    /// `a=rtcp-rsize`: feedback needs no report before it (RFC 5506).
    public var allowsReducedSizeRTCP: Bool

    /// True when the section is declined, or offered outside the bundle or without `a=rtcp-mux`.
    public var isRejected: Bool

    /// - Parameter feedback: `nil` for all that the kind supports; audio has no key frame requests.
    public init(
        mid: String, kind: MediaKind, direction: Direction, codecs: [RTPCodec], ssrc: UInt32? = nil,
        cname: String = "", feedback: Set<Feedback>? = nil, allowsReducedSizeRTCP: Bool = true,
        isRejected: Bool = false
    ) {
        self.mid = mid
        self.kind = kind
        self.direction = direction
        self.codecs = codecs
        self.ssrc = ssrc
        self.cname = cname
        self.feedback = feedback ?? (kind == .video ? Set(Feedback.allCases) : [.nack, .transportWide])
        self.allowsReducedSizeRTCP = allowsReducedSizeRTCP
        self.isRejected = isRejected
    }

    /// The declined form of the section.
    var rejected: MediaSection {
        MediaSection(mid: mid, kind: kind, direction: .inactive, codecs: Array(codecs.prefix(1)), isRejected: true)
    }
}
