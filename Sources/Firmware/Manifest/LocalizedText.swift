public import IoTCore

/// A text in several languages.
public struct LocalizedText: Sendable, Hashable {
    private static let maximumCount = 32
    private static let maximumTextBytes = 4096

    /// By language tag (BCP 47), as it was written.
    public private(set) var texts: [String: String] = [:]

    public init() {}

    /// - Throws: `releaseManifestInvalid`.
    public init(_ texts: [String: String]) throws(IoTError) {
        guard texts.count <= Self.maximumCount else {
            throw ReleaseManifest.invalid("there are more than \(Self.maximumCount) descriptions")
        }
        for (tag, text) in texts {
            guard Self.isTag(tag) else {
                throw ReleaseManifest.invalid("'\(tag.prefix(35))' is not a language's tag, such as en or zh-CN")
            }
            guard (1...Self.maximumTextBytes).contains(text.utf8.count),
                text.unicodeScalars.allSatisfy({ !$0.isControl || $0 == "\n" })
            else {
                throw ReleaseManifest.invalid(
                    "a description must have 1 to \(Self.maximumTextBytes) bytes without control characters")
            }
        }
        guard Set(texts.keys.map { $0.lowercased() }).count == texts.count else {
            throw ReleaseManifest.invalid("a language has two descriptions")
        }
        self.texts = texts
    }

    init(_ json: JSONValue) throws(IoTError) {
        guard let members = json.objectValue else { throw ReleaseManifest.invalid("descriptions is not an object") }
        var texts: [String: String] = [:]
        for (tag, value) in members {
            guard let text = value.stringValue else { throw ReleaseManifest.invalid("a description is not a text") }
            texts[tag] = text
        }
        try self.init(texts)
    }

    public var isEmpty: Bool { texts.isEmpty }

    /// The text for a reader of a language: with the tag, or with a shorter one (RFC 4647 §3.4); otherwise the English
    /// one, or the first one.
    ///
    /// - Parameter language: a tag; `nil` for a reader whose language is not known.
    public func text(for language: String?) -> (language: String, text: String)? {
        let byTag = Dictionary(texts.map { ($0.key.lowercased(), $0) }) { first, _ in first }
        var subtags = language?.lowercased().split(separator: "-", omittingEmptySubsequences: false) ?? []
        while !subtags.isEmpty {
            if let found = byTag[subtags.joined(separator: "-")] { return (found.key, found.value) }
            subtags.removeLast()
            // A singleton introduces what follows it.
            if subtags.last?.utf8.count == 1 { subtags.removeLast() }
        }
        let english = byTag["en"] ?? byTag.filter { $0.key.hasPrefix("en-") }.min { $0.key < $1.key }?.value
        guard let found = english ?? byTag.min(by: { $0.key < $1.key })?.value else { return nil }
        return (found.key, found.value)
    }

    /// Whether a text has the form of a language tag: letters and digits in parts of at most 8, the first of letters.
    public static func isTag(_ text: String) -> Bool {
        guard text.utf8.count <= 35 else { return false }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            guard (index == 0 ? 2...8 : 1...8).contains(part.count) else { return false }
            for byte in part {
                let isLetter = (0x41...0x5A).contains(byte & 0xDF)
                guard isLetter || index > 0 && (0x30...0x39).contains(byte) else { return false }
            }
        }
        return true
    }

    var json: JSONValue { .object(texts.mapValues { .string($0) }) }
}
