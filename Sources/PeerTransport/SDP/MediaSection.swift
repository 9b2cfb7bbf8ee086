public import IoTCore
public import RTP

/// One `m=` section of a session description (RFC 8866 §5.14): one track each way at most.
public struct MediaSection: Sendable, Hashable {
    /// Which way media flow, as the description's author sees it (RFC 8866 §6.7).
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

        /// The same flow as the other side sees it.
        public var reversed: Direction { Direction(sends: receives, receives: sends) }
    }

    /// The feedback messages that a receiver may send (RFC 4585 §4.2, RFC 5104 §7.1).
    public enum Feedback: String, Sendable, CaseIterable {
        case nack
        case pictureLossIndication = "nack pli"
        case fullIntraRequest = "ccm fir"
        /// draft-alvestrand-rmcat-remb-03.
        case receiverEstimatedMaximumBitrate = "goog-remb"
        /// draft-holmer-rmcat-transport-wide-cc-extensions-01; needs the extension with the packets' numbers, too.
        case transportWide = "transport-cc"
    }

    /// The section's name, a token of 32 bytes at most (RFC 5888 §4).
    public var mid: String
    public var kind: MediaKind
    public var direction: Direction

    /// In order of preference, payload types unique. Streams of repairs (`rtx`) stand behind the codecs.
    public var codecs: [RTPCodec]

    /// The SSRC of what the author sends; `nil` in a description that names none.
    public var ssrc: UInt32?

    /// The SSRC of the author's repairs (RFC 4588, `a=ssrc-group:FID`); `nil` when it names none.
    public var retransmissionSSRC: UInt32?

    /// `a=msid`: the names of stream and track (RFC 8830), `stream track`; `nil` when there is none.
    public var mediaStreamID: String?

    /// Header extensions that the author can read.
    public var headerExtensions: [HeaderExtensionMapping] = []

    /// The author's canonical name, which ties its tracks together; empty when none is named.
    public var cname: String

    public var feedback: Set<Feedback>

    /// `a=rtcp-rsize`: feedback need not be preceded by a report (RFC 5506).
    public var allowsReducedSizeRTCP: Bool

    /// Declined, or offered in a way that cannot be used here: outside the bundle, or without `a=rtcp-mux`.
    public var isRejected: Bool

    /// - Parameter feedback: `nil` for all that make sense: requests for key frames have none for sound.
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

    /// The same, declined.
    var rejected: MediaSection {
        MediaSection(mid: mid, kind: kind, direction: .inactive, codecs: Array(codecs.prefix(1)), isRejected: true)
    }
}
