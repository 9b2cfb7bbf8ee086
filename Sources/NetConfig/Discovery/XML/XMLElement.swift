/// One element of a small XML document, by namespaces rather than prefixes.
struct XMLElement: Sendable {
    struct Name: Hashable, Sendable {
        var namespace: String
        var local: String

        init(_ namespace: String, _ local: String) {
            self.namespace = namespace
            self.local = local
        }
    }

    var name: Name
    var attributes: [Name: String] = [:]
    /// Its own text, without the children's and without white space at the ends.
    var text = ""
    var children: [XMLElement] = []
    /// What a QName in the text means.
    var scope: XMLScope?

    /// Its words: XML Schema's lists are parted by white space.
    var words: [Substring] { text.split(whereSeparator: \.isWhitespace) }

    /// The first child of that name, in whatever namespace: cameras are known to mistake them.
    func child(_ local: String) -> XMLElement? { children.first { $0.name.local == local } }

    /// A descendant by the names of the children on the way.
    func descendant(_ path: String...) -> XMLElement? {
        var element: XMLElement? = self
        for step in path { element = element?.child(step) }
        return element
    }

    func children(_ local: String) -> [XMLElement] { children.filter { $0.name.local == local } }

    /// An attribute without a namespace.
    func attribute(_ local: String) -> String? { attributes[Name("", local)] }

    /// A qualified name in this element's text. A prefix that is not declared gives no namespace.
    func qualifiedName(_ text: some StringProtocol) -> Name {
        guard let colon = text.firstIndex(of: ":") else { return Name(scope?.namespace(of: "") ?? "", String(text)) }
        let prefix = String(text[..<colon])
        return Name(scope?.namespace(of: prefix) ?? "", String(text[text.index(after: colon)...]))
    }
}

/// The namespaces that one element declares, and where those of the elements around it are.
final class XMLScope: Sendable {
    private let declared: [String: String]
    private let outer: XMLScope?

    /// - Parameter declared: by prefix, with "" for the default one.
    init(_ declared: [String: String], in outer: XMLScope?) {
        self.declared = declared
        self.outer = outer
    }

    func namespace(of prefix: String) -> String? {
        declared[prefix] ?? outer?.namespace(of: prefix)
    }
}
