/// The limits for a document from a stranger.
struct XMLLimits: Sendable {
    var bytes: Int
    var depth = 32
    var elements: Int
    /// Attributes and namespace declarations, of all elements together.
    var attributes: Int

    /// One SOAP-over-UDP datagram.
    static let datagram = XMLLimits(bytes: 65_507, elements: 2000, attributes: 1000)
    /// One SOAP answer over HTTP. Recorders list some hundred profiles.
    static let answer = XMLLimits(bytes: 1 << 20, elements: 50_000, attributes: 50_000)
}

/// The reason why a document was refused.
enum XMLFailure: Error, Hashable {
    case notWellFormed(line: Int)
    /// SOAP does not allow it (SOAP 1.2 part 1 §5), and entities can expand a small document to a large one.
    case documentType
    case tooLarge
    case tooDeep
    case tooManyElements
    case tooManyAttributes
    /// A longer run than text in any language has (`isStreamSafe`).
    case combiningMarks
}

extension XMLFailure: CustomStringConvertible {
    var description: String {
        switch self {
        case .notWellFormed(let line): "not well-formed XML at line \(line)"
        case .documentType: "XML with a document type declaration, which SOAP does not allow"
        case .tooLarge: "a document that is too large"
        case .tooDeep: "a document with too many levels"
        case .tooManyElements: "a document with too many elements"
        case .tooManyAttributes: "a document with too many attributes"
        case .combiningMarks: "a document with a long run of combining marks"
        }
    }
}
