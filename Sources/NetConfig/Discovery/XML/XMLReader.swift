import CExpat
import IoTCore

/// Reads one whole document with libexpat.
///
/// A document type declaration is an error, so entities are never declared. All bytes are parsed at once, because expat
/// needs quadratic time for a long token in pieces (CVE-2023-52425).
final class XMLReader {
    private let limits: XMLLimits
    private let parser: XML_Parser
    private var open: [Frame] = []
    private var root: XMLElement?
    private var failure: XMLFailure?
    private var elements = 0
    private var attributes = 0
    /// Declared since the last start tag, for the next one.
    private var declared: [String: String] = [:]

    private struct Frame {
        var element: XMLElement
        var text: [UInt8] = []
    }

    /// The separator of namespace and name in expat's output: a URI does not contain a line feed.
    private static let separator = UInt8(ascii: "\n")

    /// - Throws: `XMLFailure`.
    static func read(_ bytes: [UInt8], _ limits: XMLLimits) throws(XMLFailure) -> XMLElement {
        guard bytes.count <= limits.bytes else { throw .tooLarge }
        let (bytes, encoding) = XMLEncoding.settle(bytes)
        guard !bytes.isEmpty, let parser = XML_ParserCreateNS(encoding, XML_Char(separator)) else {
            throw .notWellFormed(line: 1)
        }
        let reader = XMLReader(parser, limits)
        defer { withExtendedLifetime(reader) { XML_ParserFree(parser) } }
        return try reader.run(bytes)
    }

    private init(_ parser: XML_Parser, _ limits: XMLLimits) {
        self.parser = parser
        self.limits = limits
    }

    private func run(_ bytes: [UInt8]) throws(XMLFailure) -> XMLElement {
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(parser, { me, name, attributes in XMLReader.of(me)?.start(name, attributes) }) { me, _ in
            XMLReader.of(me)?.end()
        }
        XML_SetCharacterDataHandler(parser) { me, text, count in XMLReader.of(me)?.characters(text, Int(count)) }
        XML_SetStartNamespaceDeclHandler(parser) { me, prefix, uri in XMLReader.of(me)?.declare(prefix, uri) }
        XML_SetStartDoctypeDeclHandler(parser) { me, _, _, _, _ in XMLReader.of(me)?.stop(.documentType) }
        let status = bytes.withUnsafeBytes {
            XML_Parse(parser, $0.bindMemory(to: CChar.self).baseAddress, CInt(bytes.count), 1)
        }
        if let failure { throw failure }
        guard status == XML_STATUS_OK, let root else {
            throw .notWellFormed(line: Int(XML_GetCurrentLineNumber(parser)))
        }
        return root
    }

    private static func of(_ data: UnsafeMutableRawPointer?) -> XMLReader? {
        data.map { Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private func stop(_ failure: XMLFailure) {
        guard self.failure == nil else { return }
        self.failure = failure
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    // MARK: Events from expat

    private func declare(_ prefix: UnsafePointer<XML_Char>?, _ uri: UnsafePointer<XML_Char>?) {
        attributes += 1
        guard attributes <= limits.attributes else { return stop(.tooManyAttributes) }
        declared[prefix.map(text) ?? ""] = uri.map(text) ?? ""
    }

    private func start(
        _ name: UnsafePointer<XML_Char>?, _ given: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) {
        guard failure == nil, let name else { return }
        elements += 1
        guard elements <= limits.elements else { return stop(.tooManyElements) }
        guard open.count < limits.depth else { return stop(.tooDeep) }
        var element = XMLElement(name: self.name(name))
        element.scope = open.last?.element.scope
        if !declared.isEmpty {
            element.scope = XMLScope(declared, in: element.scope)
            declared = [:]
        }
        var next = given
        while let key = next?[0], let value = next?[1] {
            attributes += 1
            guard attributes <= limits.attributes else { return stop(.tooManyAttributes) }
            element.attributes[self.name(key)] = text(value)
            next = next?.advanced(by: 2)
        }
        open.append(Frame(element: element))
    }

    private func characters(_ text: UnsafePointer<XML_Char>?, _ count: Int) {
        guard failure == nil, let text, !open.isEmpty else { return }
        open[open.count - 1].text.append(contentsOf: UnsafeRawBufferPointer(start: text, count: count))
    }

    private func end() {
        guard failure == nil, var frame = open.popLast() else { return }
        frame.element.text = Self.trimmed(frame.text)
        guard frame.element.text.isStreamSafe else { return stop(.combiningMarks) }
        if open.isEmpty {
            root = frame.element
        } else {
            open[open.count - 1].element.children.append(frame.element)
        }
    }

    /// Names and values are hashed and compared, which is slow for a run of combining marks.
    private func text(_ bytes: UnsafePointer<XML_Char>) -> String {
        let text = String(cString: bytes)
        guard text.isStreamSafe else {
            stop(.combiningMarks)
            return ""
        }
        return text
    }

    private func name(_ bytes: UnsafePointer<XML_Char>) -> XMLElement.Name {
        let whole = text(bytes)
        guard let end = whole.utf8.firstIndex(of: Self.separator) else { return XMLElement.Name("", whole) }
        return XMLElement.Name(String(whole[..<end]), String(whole[whole.utf8.index(after: end)...]))
    }

    private static func trimmed(_ bytes: [UInt8]) -> String {
        let isSpace: (UInt8) -> Bool = { $0 <= 0x20 }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}
