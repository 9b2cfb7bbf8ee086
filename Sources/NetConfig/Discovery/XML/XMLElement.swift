/// One element of a small XML document, with namespaces instead of prefixes.
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
    /// Its own text, without the children's, trimmed of white space.
    var text = ""
    var children: [XMLElement] = []
    /// The namespaces for QNames in the text.
    var scope: XMLScope?

    /// Its words: XML Schema's lists are separated by white space.
    var words: [Substring] { text.split(whereSeparator: \.isWhitespace) }

    /// The first child with that name, in any namespace, because some cameras use wrong ones.
    func child(_ local: String) -> XMLElement? { children.first { $0.name.local == local } }

    /// A descendant by the names of the children on the path.
    func descendant(_ path: String...) -> XMLElement? {
        var element: XMLElement? = self
        for step in path { element = element?.child(step) }
        return element
    }

    func children(_ local: String) -> [XMLElement] { children.filter { $0.name.local == local } }

    /// An attribute without a namespace.
    func attribute(_ local: String) -> String? { attributes[Name("", local)] }

    /// A qualified name in this element's text. An undeclared prefix has no namespace.
    func qualifiedName(_ text: some StringProtocol) -> Name {
        guard let colon = text.firstIndex(of: ":") else { return Name(scope?.namespace(of: "") ?? "", String(text)) }
        let prefix = String(text[..<colon])
        return Name(scope?.namespace(of: prefix) ?? "", String(text[text.index(after: colon)...]))
    }
}

/// The namespaces that one element declares, and a link to those of the enclosing elements.
final class XMLScope: Sendable {
    private let declared: [String: String]
    private let outer: XMLScope?

    /// - Parameter declared: By prefix, with "" for the default one.
    init(_ declared: [String: String], in outer: XMLScope?) {
        self.declared = declared
        self.outer = outer
    }

    func namespace(of prefix: String) -> String? {
        declared[prefix] ?? outer?.namespace(of: prefix)
    }
}
