/// A target service: the data about a device in Hello, ProbeMatch and ResolveMatch.
struct WSDTarget: Hashable, Sendable {
    /// The endpoint address. A UUID is normalized to `urn:uuid:…` in lower case.
    var endpoint: String
    var types: [XMLElement.Name] = []
    var scopes: [String] = []
    /// XAddrs as received; not validated.
    var serviceURLs: [String] = []
    var metadataVersion = 1

    /// The maximum number of items kept of a list, and the maximum size of a scope or URL in bytes.
    static let maximumItems = 64
    static let maximumItemSize = 512

    /// - Normalizes an endpoint address: some devices omit `urn:` or use upper case.
    static func endpoint(_ text: some StringProtocol) -> String {
        let lower = text.lowercased()
        if lower.hasPrefix("urn:uuid:") { return lower }
        return lower.hasPrefix("uuid:") ? "urn:" + lower : String(text)
    }
}

extension WSDTarget {
    /// - Parameter element: Hello, Bye, ProbeMatch or ResolveMatch. `nil` without an endpoint reference of at most 256
    ///   bytes.
    init?(_ element: XMLElement) {
        guard let address = element.descendant("EndpointReference", "Address")?.text, !address.isEmpty,
            address.utf8.count <= 256
        else { return nil }
        endpoint = Self.endpoint(address)
        let types = element.child("Types")
        self.types = types.map { types in types.words.prefix(Self.maximumItems).map(types.qualifiedName) } ?? []
        scopes = Self.items(element.child("Scopes"))
        serviceURLs = Self.items(element.child("XAddrs"))
        metadataVersion = element.child("MetadataVersion").flatMap { Int($0.text) } ?? 1
    }

    static func items(_ element: XMLElement?) -> [String] {
        let words = element?.words.lazy.filter { $0.utf8.count <= maximumItemSize }
        return words?.prefix(maximumItems).map(String.init) ?? []
    }
}
