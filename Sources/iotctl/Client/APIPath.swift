import Foundation

/// An API path with percent-encoded parts.
struct APIPath: Sendable {
    let text: String

    /// - Parameters:
    ///   - parts: the parts of the path, as the user wrote them.
    ///   - query: items whose value is `nil` are left out.
    init(_ parts: String..., query: KeyValuePairs<String, String?> = [:]) {
        var text = parts.map { "/" + Self.encode($0) }.joined()
        let items = query.compactMap { item in item.value.map { "\(item.key)=\(Self.encode($0))" } }
        if !items.isEmpty { text += "?" + items.joined(separator: "&") }
        self.text = text
    }

    /// A path from a response of the daemon.
    init(given text: String) {
        self.text = text
    }

    /// Encodes everything but the unreserved characters (RFC 3986 §2.3).
    static func encode(_ text: String) -> String {
        let allowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
    }
}
