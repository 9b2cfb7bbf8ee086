import Foundation

/// A path of the API with its parts percent-encoded.
struct APIPath: Sendable {
    let text: String

    /// - Parameters:
    ///   - parts: the path's parts, as the user wrote them.
    ///   - query: items whose value is `nil` are left out.
    init(_ parts: String..., query: KeyValuePairs<String, String?> = [:]) {
        var text = parts.map { "/" + Self.encode($0) }.joined()
        let items = query.compactMap { item in item.value.map { "\(item.key)=\(Self.encode($0))" } }
        if !items.isEmpty { text += "?" + items.joined(separator: "&") }
        self.text = text
    }

    /// A path that the daemon gave.
    init(given text: String) {
        self.text = text
    }

    /// RFC 3986 §2.3: only the unreserved characters stay.
    static func encode(_ text: String) -> String {
        let allowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
    }
}
