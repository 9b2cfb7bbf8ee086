public import IoTCore
import RTP

/// An offer or an answer (RFC 8866, and RFC 8829 for WebRTC peers).
///
/// All sections share one transport (BUNDLE, RFC 9143) with RTP and RTCP on one port (RFC 5761), so ICE and DTLS
/// belong to the description rather than to a section.
public struct SessionDescription: Sendable, Hashable {
    /// Which side starts the DTLS handshake (RFC 8842 §5).
    public enum Setup: String, Sendable {
        case active
        case passive
        case either = "actpass"
    }

    /// One `m=` section: the answer must have as many as the offer, in the same order.
    enum Entry: Sendable, Hashable {
        case media(MediaSection)
        case data(DataSection)
        /// A section of another medium or protocol; always declined.
        case unsupported(UnsupportedSection)

        var isRejected: Bool {
            switch self {
            case .media(let section): section.isRejected
            case .data(let section): section.isRejected
            case .unsupported: true
            }
        }

        /// The declined form of the section, with port 0.
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
        /// The words of the `m=` line, without the port.
        var medium: String
        var transport: String
        var formats: String
        var mid: String
    }

    /// The longest text that is accepted, in bytes.
    public static let maximumByteCount = SessionDescriptionLines.maximumByteCount
    static let maximumSections = 32

    var sessionID: UInt64
    var sessionVersion: UInt64 = 1
    var entries: [Entry]
    var credentials: ICECredentials
    var candidates: [ICECandidate] = []

    /// The number of malformed `a=candidate` lines; they are ignored.
    public internal(set) var malformedCandidates = 0

    /// The certificates that the author may use.
    public var fingerprints: [CertificateFingerprint]
    public var setup: Setup

    /// True when there are no more candidates to come.
    public var hasEndOfCandidates = false

    /// True when the author takes part in ICE without sending checks (RFC 8445 §2.5).
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

    /// Parses a peer's description, which may be malformed.
    ///
    /// - Throws: `sessionDescriptionInvalid` when it is over 64 KiB, malformed, or lacks a requirement of a secure
    ///   connection: ICE credentials, a fingerprint by SHA-256 or better, and at least one usable section.
    public init(parsing text: String) throws(IoTError) {
        var parser = SessionDescriptionParser()
        self = try parser.parse(text)
    }

    /// The audio and video sections, including rejected ones.
    public var sections: [MediaSection] {
        entries.compactMap { if case .media(let section) = $0 { section } else { nil } }
    }

    /// The section of data channels; `nil` when there is none. If there are several, only the first is used.
    public var dataSection: DataSection? {
        for case .data(let section) in entries { return section }
        return nil
    }

    /// The author's ICE user name fragment, which assigns the first datagram to its peer.
    public var iceUfrag: String { credentials.ufrag }
    public var icePassword: String { credentials.password }

    /// The candidates, each as `candidate:…`.
    public var candidateTexts: [String] { candidates.map(\.text) }
}
