/// What a stranger's document may cost.
struct XMLLimits: Sendable {
    var bytes: Int
    var depth = 32
    var elements: Int
    /// Attributes and declarations of namespaces, of all elements together.
    var attributes: Int

    /// One SOAP-over-UDP datagram.
    static let datagram = XMLLimits(bytes: 65_507, elements: 2000, attributes: 1000)
    /// One SOAP answer over HTTP. Recorders list some hundred profiles.
    static let answer = XMLLimits(bytes: 1 << 20, elements: 50_000, attributes: 50_000)
}

/// Why a document was not read.
enum XMLFailure: Error, Hashable {
    case notWellFormed(line: Int)
    /// SOAP has none (SOAP 1.2 part 1 §5), and entities are how a small document becomes a large one.
    case documentType
    case tooLarge
    case tooDeep
    case tooManyElements
    case tooManyAttributes
    /// More in a row than text in any language has (`isStreamSafe`).
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
