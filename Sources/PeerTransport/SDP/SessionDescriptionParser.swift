import IoTCore
import RTP

/// Parses a session description. Ignores unknown lines and attributes, as RFC 8866 §5 requires.
struct SessionDescriptionParser {
    private var session = ParsedSection(MediaDescription(medium: "", port: 0, transport: "", formats: []))
    private var sections: [ParsedSection] = []
    private var sessionID: UInt64 = 0
    private var bundle: [Substring]?

    mutating func parse(_ text: String) throws(IoTError) -> SessionDescription {
        try SessionDescriptionLines.read(text) { type, value throws(IoTError) in try take(type: type, value: value) }
        return try assemble()
    }

    private mutating func take(type: Substring, value: Substring) throws(IoTError) {
        switch type {
        case "m":
            guard sections.count < SessionDescription.maximumSections else {
                throw SessionDescriptionLines.invalid("it has too many sections")
            }
            sections.append(try ParsedSection(MediaDescription(line: value)))
        case "o":
            sessionID = value.split(separator: " ").dropFirst().first.flatMap { UInt64($0) } ?? 0
        case "a":
            let pieces = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = pieces.first ?? ""
            let argument = pieces.count > 1 ? pieces[1] : ""
            if sections.isEmpty {
                if name == "group", bundle == nil, argument.hasPrefix("BUNDLE") {
                    bundle = argument.split(separator: " ").dropFirst().map { $0 }
                }
                try session.take(attribute: name, argument)
            } else {
                try sections[sections.count - 1].take(attribute: name, argument)
            }
        default:
            break
        }
    }

    private mutating func assemble() throws(IoTError) -> SessionDescription {
        guard !sections.isEmpty else { throw SessionDescriptionLines.invalid("it has no media section") }
        var names: Set<Substring> = []
        for index in sections.indices {
            if sections[index].mid == nil { sections[index].mid = "\(index)" }
            guard names.insert(sections[index].mid ?? "").inserted else {
                throw SessionDescriptionLines.invalid("two sections have the same mid")
            }
        }
        // Without a group only one section can use the transport: the first usable one.
        let usable = sections.filter(\.isUsable)
        let members = Set(bundle ?? usable.prefix(1).map { $0.mid ?? "" })
        let carriers = usable.filter { members.contains($0.mid ?? "") }
        guard let transport = carriers.first else {
            throw SessionDescriptionLines.invalid("it has no usable section")
        }

        guard let ufrag = transport.ufrag ?? session.ufrag, let password = transport.password ?? session.password
        else { throw SessionDescriptionLines.invalid("it has no ICE credentials") }
        let credentials = ICECredentials(ufrag: String(ufrag), password: String(password))
        guard credentials.isValid else { throw SessionDescriptionLines.invalid("its ICE credentials are malformed") }
        let fingerprints = transport.fingerprints.isEmpty ? session.fingerprints : transport.fingerprints
        guard !fingerprints.isEmpty else {
            throw SessionDescriptionLines.invalid("it has no fingerprint by SHA-256 or better")
        }

        var description = SessionDescription(
            sessionID: sessionID,
            entries: sections.map { $0.entry(isBundled: members.contains($0.mid ?? "")) },
            credentials: credentials, fingerprints: fingerprints,
            // Without the attribute the offerer is active (RFC 4145 §4).
            setup: transport.setup ?? session.setup ?? .active)
        description.candidates = transport.candidates
        description.malformedCandidates = transport.malformedCandidates
        description.hasEndOfCandidates = transport.hasEndOfCandidates || session.hasEndOfCandidates
        description.isICELite = session.isICELite
        return description
    }
}
