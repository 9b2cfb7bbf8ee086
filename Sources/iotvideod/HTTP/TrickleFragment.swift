import IoTCore

/// A fragment with the browser's ICE candidates (RFC 8840 §9). All media sections share one transport, so it does not
/// matter which section contains a candidate.
struct TrickleFragment: Sendable, Equatable {
    static let maximumCandidates = 64
    /// In bytes.
    static let maximumSize = 65_536

    private(set) var iceUfrag: String?
    /// `candidate:…`; an empty text marks the end of candidates.
    private(set) var candidates: [String] = []

    /// - Throws: `.invalidRequest` if the text is not a valid fragment.
    init(parsing text: String) throws(IoTError) {
        guard text.utf8.count <= Self.maximumSize else {
            throw IoTError(.payloadTooLarge, "a fragment may have at most 64 KiB")
        }
        var hasEnded = false
        for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            let line = String(Substring(line))
            guard line.utf8.count >= 2, line.utf8.dropFirst().first == UInt8(ascii: "="),
                line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 })
            else { throw IoTError(.invalidRequest, "a line of the fragment is not type=value") }
            if line.hasPrefix("a=candidate:") {
                guard candidates.count < Self.maximumCandidates else {
                    throw IoTError(.invalidRequest, "a fragment may have at most \(Self.maximumCandidates) candidates")
                }
                candidates.append(String(line.dropFirst(2)))
            } else if line.hasPrefix("a=end-of-candidates") {
                hasEnded = true
            } else if line.hasPrefix("a=ice-ufrag:") {
                let ufrag = String(line.dropFirst("a=ice-ufrag:".count))
                // RFC 8839 §5.4. No session has another ufrag, and Swift compares only ASCII in linear time.
                guard (1...256).contains(ufrag.utf8.count), ufrag.utf8.allSatisfy({ $0 < 0x80 }) else {
                    throw IoTError(.invalidRequest, "an ice-ufrag must be 1 to 256 letters, digits, + and /")
                }
                guard iceUfrag == nil || iceUfrag == ufrag else {
                    throw IoTError(.invalidRequest, "the fragment contains two ICE sessions")
                }
                iceUfrag = ufrag
            }
        }
        if hasEnded { candidates.append("") }
    }
}
