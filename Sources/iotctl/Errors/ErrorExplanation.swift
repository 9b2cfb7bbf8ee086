import IoTCore

/// What is known about an error's number.
struct ErrorExplanation: Encodable, Hashable {
    struct Domain: Encodable, Hashable {
        var name: String
        var first: Int
        var last: Int
        var description: String
    }

    var code: Int
    var name: String
    var message: String
    /// `nil` for a number that is not in the catalogue.
    var remedy: String?
    /// `nil` for a number that belongs to nobody.
    var domain: Domain?
    /// Why this product does not report it.
    var unused: String?

    /// - Parameter word: a number, or a name of the catalogue.
    /// - Throws: 25003 for a name that is unknown, and for a number that belongs to nobody.
    init(_ word: String) throws(IoTError) {
        if let number = Int(word) {
            try self.init(ErrorCode(rawValue: number))
            return
        }
        guard let entry = ErrorCatalogue.entry(named: word) else {
            let suggestion = Spelling.nearest(to: word, in: ErrorCatalogue.entries.map(\.name))
            throw IoTError(
                .notFound, "there is no error '\(word)'" + (suggestion.map { "; did you mean '\($0)'?" } ?? ""),
                remedy: "docs/errors.md lists all")
        }
        try self.init(entry.code)
    }

    private init(_ code: ErrorCode) throws(IoTError) {
        self.code = code.rawValue
        name = code.name
        domain = code.domain.map {
            Domain(
                name: $0.name, first: $0.range.lowerBound, last: $0.range.upperBound, description: $0.description)
        }
        guard let entry = ErrorCatalogue.entry(code) else {
            guard domain != nil || code == .success else {
                throw IoTError(
                    .notFound, "\(code.rawValue) is not in the range of any part of the product",
                    remedy: "docs/errors.md lists all")
            }
            message =
                code == .success
                ? code.message
                : name == "customerDefined"
                    ? "the maker of the device defines this number" : "the number is not in this version's list"
            return
        }
        message = entry.message
        remedy = entry.remedy
        unused = entry.whyUnused
    }

    var text: String {
        var pairs = [("error", "\(code) \(name)"), ("meaning", message)]
        if let remedy { pairs.append(("remedy", remedy)) }
        if let domain {
            pairs.append(("range", "\(domain.first)–\(domain.last) \(domain.name): \(domain.description)"))
        }
        if let unused { pairs.append(("unused", "this product does not report it: \(unused)")) }
        return Table.pairs(pairs)
    }
}
