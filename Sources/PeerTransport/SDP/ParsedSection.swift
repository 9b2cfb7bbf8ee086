import IoTCore
import RTP

/// The parser's state of one `m=` section, or of the lines before the first.
struct ParsedSection {
    private var description: MediaDescription

    var mid: Substring?
    private(set) var ufrag: Substring?
    private(set) var password: Substring?
    private(set) var fingerprints: [CertificateFingerprint] = []
    private(set) var setup: SessionDescription.Setup?
    private(set) var candidates: [ICECandidate] = []
    private(set) var malformedCandidates = 0
    private(set) var hasEndOfCandidates = false
    private(set) var isICELite = false

    private var direction: MediaSection.Direction?
    private var isBundleOnly = false
    private var hasRTCPMux = false
    private var hasReducedSize = false
    private var feedback: [Substring: Set<MediaSection.Feedback>] = [:]
    private var ssrc: UInt32?
    private var retransmissions: [UInt32: UInt32] = [:]
    private var extensions: [HeaderExtensionMapping] = []
    private var mediaStreamID: Substring?
    private var cname: Substring = ""

    private var sctpPort = DataSection.defaultPort
    private var maximumMessageSize = DataSection.defaultMaximumMessageSize

    private static let maximumCandidates = 256
    private static let maximumFingerprints = 16
    private static let maximumExtensions = 32

    init(_ description: MediaDescription) {
        self.description = description
    }

    mutating func take(attribute name: Substring, _ argument: Substring) throws(IoTError) {
        switch name {
        case "mid":
            guard (1...32).contains(argument.utf8.count), argument.utf8.allSatisfy(Self.isTokenCharacter) else {
                throw SessionDescriptionLines.invalid("a mid is not a token")
            }
            mid = argument
        case "ice-ufrag": ufrag = argument
        case "ice-pwd": password = argument
        case "ice-lite": isICELite = true
        case "fingerprint":
            if fingerprints.count < Self.maximumFingerprints,
                let fingerprint = try CertificateFingerprint(parsing: argument)
            {
                fingerprints.append(fingerprint)
            }
        case "setup":
            guard let value = SessionDescription.Setup(rawValue: String(argument)) else {
                throw SessionDescriptionLines.invalid("its setup is \(argument.prefix(16))")
            }
            setup = value
        case "candidate":
            takeCandidate(argument)
        case "end-of-candidates": hasEndOfCandidates = true
        case "bundle-only": isBundleOnly = true
        case "rtcp-mux", "rtcp-mux-only": hasRTCPMux = true
        case "rtcp-rsize": hasReducedSize = true
        case "sendrecv", "sendonly", "recvonly", "inactive":
            direction = MediaSection.Direction(rawValue: String(name))
        case "rtpmap": description.take(map: argument)
        case "fmtp": description.take(parameters: argument)
        case "rtcp-fb": takeFeedback(argument)
        case "ssrc": takeSource(argument)
        case "ssrc-group": takeSourceGroup(argument)
        case "msid": takeMediaStreamID(argument)
        case "sctp-port":
            guard let port = UInt16(argument) else {
                throw SessionDescriptionLines.invalid("an sctp-port is not a port number")
            }
            sctpPort = port
        case "max-message-size":
            guard !argument.isEmpty, argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw SessionDescriptionLines.invalid("a max-message-size is not a number")
            }
            maximumMessageSize = Int(argument) ?? .max
        case "extmap":
            if extensions.count < Self.maximumExtensions, let mapping = HeaderExtensionMapping(parsing: argument),
                !extensions.contains(where: { $0.identifier == mapping.identifier || $0.uri == mapping.uri })
            {
                extensions.append(mapping)
            }
        default: break
        }
    }

    /// True when it is offered, of a supported kind and protocol, with RTCP on the same port, and a readable codec.
    var isUsable: Bool {
        if isDataChannels { return description.port != 0 || isBundleOnly }
        return MediaKind(rawValue: String(description.medium)) != nil && isSecureRTP
            && (description.port != 0 || isBundleOnly) && hasRTCPMux && !description.codecs.isEmpty
    }

    private var isSecureRTP: Bool {
        ["UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP", "RTP/SAVPF", "RTP/SAVP"].contains(description.transport)
    }

    /// RFC 8841 §5; the older form (`DTLS/SCTP 5000`) is declined.
    private var isDataChannels: Bool {
        description.medium == "application" && ["UDP/DTLS/SCTP", "TCP/DTLS/SCTP"].contains(description.transport)
            && description.formats.contains("webrtc-datachannel")
    }

    func entry(isBundled: Bool) -> SessionDescription.Entry {
        let name = String(mid ?? "")
        if isDataChannels {
            return .data(
                DataSection(
                    mid: name, sctpPort: sctpPort, maximumMessageSize: maximumMessageSize,
                    isRejected: !(isUsable && isBundled)))
        }
        guard let kind = MediaKind(rawValue: String(description.medium)), isSecureRTP else {
            return .unsupported(
                SessionDescription.UnsupportedSection(
                    medium: String(description.medium), transport: String(description.transport),
                    formats: description.formats.joined(separator: " "), mid: name))
        }
        let codecs = description.codecs
        let offered = codecs.reduce(into: feedback["*"] ?? []) { all, codec in
            all.formUnion(feedback[Substring(String(codec.payloadType))] ?? [])
        }
        var section = MediaSection(
            mid: name, kind: kind, direction: direction ?? .sendReceive, codecs: codecs, ssrc: ssrc,
            cname: String(cname), feedback: offered, allowsReducedSizeRTCP: hasReducedSize,
            isRejected: !(isUsable && isBundled))
        section.retransmissionSSRC = ssrc.flatMap { retransmissions[$0] }
        section.mediaStreamID = mediaStreamID.map(String.init)
        section.headerExtensions = extensions
        return .media(section)
    }

    /// `96 nack pli`, or `* nack`
    private mutating func takeFeedback(_ argument: Substring) {
        let words = argument.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let value = MediaSection.Feedback(rawValue: String(words[1])),
            feedback.count <= MediaDescription.maximumFormats
        else { return }
        feedback[words[0], default: []].insert(value)
    }

    /// A malformed candidate does not affect the others (RFC 8839 §5.1: unknown candidates are ignored).
    private mutating func takeCandidate(_ argument: Substring) {
        guard candidates.count < Self.maximumCandidates else { return }
        do {
            guard let candidate = try ICECandidate(parsing: "candidate:" + argument) else { return }
            candidates.append(candidate)
        } catch {
            malformedCandidates += 1
        }
    }

    /// `1234 cname:abc`. The first SSRC is the media's; those of repair streams follow (RFC 5576 §4).
    private mutating func takeSource(_ argument: Substring) {
        let words = argument.split(separator: " ", maxSplits: 1)
        guard let first = words.first, let number = UInt32(first) else { return }
        if ssrc == nil { ssrc = number }
        if number == ssrc, words.count == 2, words[1].hasPrefix("cname:") {
            cname = words[1].dropFirst("cname:".count).prefix(255)
        }
        // Before RFC 8830, `msid` was an attribute of the SSRC.
        if number == ssrc, words.count == 2, mediaStreamID == nil, words[1].hasPrefix("msid:") {
            takeMediaStreamID(words[1].dropFirst("msid:".count))
        }
    }

    /// `FID 1 2`: the second repairs the first (RFC 4588 §8.3, RFC 5576 §4.2).
    private mutating func takeSourceGroup(_ argument: Substring) {
        let words = argument.split(separator: " ")
        guard words.count == 3, words[0] == "FID", let first = UInt32(words[1]), let second = UInt32(words[2]),
            first != second, retransmissions.count < Self.maximumCandidates
        else { return }
        if retransmissions[first] == nil { retransmissions[first] = second }
    }

    private mutating func takeMediaStreamID(_ argument: Substring) {
        guard mediaStreamID == nil, (1...255).contains(argument.utf8.count) else { return }
        mediaStreamID = argument
    }

    /// RFC 8866 §9: `token-char`.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"(),/:;<=>?@[\\]".utf8.contains(byte)
    }
}
