public import IoTCore
import RTP

/// An offer or an answer (RFC 8866; RFC 8829 for what WebRTC peers write into it).
///
/// All sections share one transport (BUNDLE, RFC 9143) with RTP and RTCP on one port (RFC 5761), so ICE and DTLS
/// belong to the description rather than to a section.
public struct SessionDescription: Sendable, Hashable {
    /// Who begins the DTLS handshake (RFC 8842 §5).
    public enum Setup: String, Sendable {
        case active
        case passive
        case either = "actpass"
    }

    /// An `m=` section in its place: the answer must have as many as the offer, in the same order.
    enum Entry: Sendable, Hashable {
        case media(MediaSection)
        case data(DataSection)
        /// Of another medium or protocol; always declined.
        case unsupported(UnsupportedSection)

        var isRejected: Bool {
            switch self {
            case .media(let section): section.isRejected
            case .data(let section): section.isRejected
            case .unsupported: true
            }
        }

        /// The same with port 0.
        var rejected: Entry {
            switch self {
            case .media(let section): return .media(section.rejected)
            case .data(var section):
                section.isRejected = true
                return .data(section)
            case .unsupported: return self
            }
        }
    }

    struct UnsupportedSection: Sendable, Hashable {
        /// The `m=` line's words, without the port.
        var medium: String
        var transport: String
        var formats: String
        var mid: String
    }

    /// The greatest text that is read, in bytes.
    public static let maximumByteCount = SessionDescriptionLines.maximumByteCount
    static let maximumSections = 32

    var sessionID: UInt64
    var sessionVersion: UInt64 = 1
    var entries: [Entry]
    var credentials: ICECredentials
    var candidates: [ICECandidate] = []

    /// How many `a=candidate` lines could not be read; they are ignored.
    public internal(set) var malformedCandidates = 0

    /// The certificates that the author may show.
    public var fingerprints: [CertificateFingerprint]
    public var setup: Setup

    /// True when no further candidates will come.
    public var hasEndOfCandidates = false

    /// The author takes part in ICE without sending checks (RFC 8445 §2.5).
    public var isICELite = false

    init(
        sessionID: UInt64, entries: [Entry], credentials: ICECredentials, fingerprints: [CertificateFingerprint],
        setup: Setup
    ) {
        self.sessionID = sessionID
        self.entries = entries
        self.credentials = credentials
        self.fingerprints = fingerprints
        self.setup = setup
    }

    /// Reads what a peer sent, of any shape.
    ///
    /// - Throws: `sessionDescriptionInvalid` when it is over 64 KiB, malformed, or lacks what a secure connection
    ///   needs: ICE credentials, a fingerprint by SHA-256 or better, and at least one usable section.
    public init(parsing text: String) throws(IoTError) {
        var parser = SessionDescriptionParser()
        self = try parser.parse(text)
    }

    /// The sections of sound and picture, rejected ones included.
    public var sections: [MediaSection] {
        entries.compactMap { if case .media(let section) = $0 { section } else { nil } }
    }

    /// The section of data channels; `nil` when there is none. Of several the first counts.
    public var dataSection: DataSection? {
        for case .data(let section) in entries { return section }
        return nil
    }

    /// The author's ICE user name fragment: by it the first datagram finds its peer.
    public var iceUfrag: String { credentials.ufrag }
    public var icePassword: String { credentials.password }

    /// Each as `candidate:…`.
    public var candidateTexts: [String] { candidates.map(\.text) }
}
