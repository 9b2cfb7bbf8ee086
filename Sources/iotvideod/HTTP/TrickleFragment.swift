import IoTCore

/// What a browser sends of its candidates (RFC 8840 §9). All sections share one transport, so in which of them a
/// candidate stands does not matter.
struct TrickleFragment: Sendable, Equatable {
    static let maximumCandidates = 64
    /// In bytes.
    static let maximumSize = 65_536

    private(set) var iceUfrag: String?
    /// `candidate:…`; an empty one ends them.
    private(set) var candidates: [String] = []

    /// - Throws: `.invalidRequest` for what is no such fragment.
    init(parsing text: String) throws(IoTError) {
        guard text.utf8.count <= Self.maximumSize else {
            throw IoTError(.payloadTooLarge, "a fragment may hold 64 KiB")
        }
        var hasEnded = false
        for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            let line = String(Substring(line))
            guard line.utf8.count >= 2, line.utf8.dropFirst().first == UInt8(ascii: "="),
                line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 })
            else { throw IoTError(.invalidRequest, "a line of the fragment is no type=value") }
            if line.hasPrefix("a=candidate:") {
                guard candidates.count < Self.maximumCandidates else {
                    throw IoTError(.invalidRequest, "a fragment may hold \(Self.maximumCandidates) candidates")
                }
                candidates.append(String(line.dropFirst(2)))
            } else if line.hasPrefix("a=end-of-candidates") {
                hasEnded = true
            } else if line.hasPrefix("a=ice-ufrag:") {
                let ufrag = String(line.dropFirst("a=ice-ufrag:".count))
                // RFC 8839 §5.4. Anything else is nobody's, and Swift compares only ASCII in linear time.
                guard (1...256).contains(ufrag.utf8.count), ufrag.utf8.allSatisfy({ $0 < 0x80 }) else {
                    throw IoTError(.invalidRequest, "an ice-ufrag is at most 256 letters, digits, + and /")
                }
                guard iceUfrag == nil || iceUfrag == ufrag else {
                    throw IoTError(.invalidRequest, "the fragment names two ICE sessions")
                }
                iceUfrag = ufrag
            }
        }
        if hasEnded { candidates.append("") }
    }
}
