public import IoTCore

/// What a release is and what it is for. Its maker signs the JSON text.
public struct ReleaseManifest: Sendable, Hashable {
    /// The value of the member `type`. It separates the signed text from anything else that the same key signs.
    private static let type = "iotvideod firmware 1"
    public static let maximumBytes = 16_384
    /// Of `model`, in characters.
    public static let longestModel = 64
    private static let maximumPatterns = 64

    /// The model of the devices that it is for, 1 to 64 visible characters of ASCII.
    public var model: String
    public var version: FirmwareVersion
    /// Of the file, in bytes; at least 1.
    public var size: Int64
    /// Of the file.
    public var hash: [UInt8]
    /// The versions that it can be installed on; empty for all that are older. A downgrade must name them.
    public var from: [VersionPattern]
    /// What is new, by language.
    public var descriptions: LocalizedText
    /// Whether it may replace a newer version.
    public var isDowngrade: Bool

    public init(
        model: String, version: FirmwareVersion, size: Int64, hash: [UInt8], from: [VersionPattern] = [],
        descriptions: LocalizedText = LocalizedText(), isDowngrade: Bool = false
    ) throws(IoTError) {
        self.model = model
        self.version = version
        self.size = size
        self.hash = hash
        self.from = from
        self.descriptions = descriptions
        self.isDowngrade = isDowngrade
        try check()
    }

    private func check() throws(IoTError) {
        guard (1...Self.longestModel).contains(model.utf8.count), model.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }),
            model.utf8.first != 0x20, model.utf8.last != 0x20
        else { throw Self.invalid("model must have 1 to 64 visible characters of ASCII") }
        guard size >= 1 else { throw Self.invalid("size must be at least 1") }
        guard hash.count == 32 else { throw Self.invalid("sha256 must have 64 hexadecimal digits") }
        guard from.count <= Self.maximumPatterns else {
            throw Self.invalid("from may have at most \(Self.maximumPatterns) versions")
        }
        guard !isDowngrade || !from.isEmpty else {
            throw Self.invalid("a downgrade must name the versions that it replaces in 'from'")
        }
        guard text.utf8.count <= Self.maximumBytes else {
            throw Self.invalid("the manifest is longer than \(Self.maximumBytes) bytes")
        }
    }

    /// Parses `text`. Unknown members are ignored: they are for newer devices.
    ///
    /// - Throws: `releaseManifestInvalid`.
    public init(text bytes: [UInt8]) throws(IoTError) {
        guard bytes.count <= Self.maximumBytes else {
            throw Self.invalid("the manifest is longer than \(Self.maximumBytes) bytes")
        }
        let members: [String: JSONValue]?
        do {
            members = try JSONValue(parsing: bytes).objectValue
        } catch {
            throw Self.invalid("it is not JSON: \(error)")
        }
        guard let members, members["type"]?.stringValue == Self.type else {
            throw Self.invalid("its type is not '\(Self.type)'")
        }
        guard let model = members["model"]?.stringValue else { throw Self.invalid("model is missing") }
        guard let version = members["version"]?.stringValue.flatMap({ FirmwareVersion($0) }) else {
            throw Self.invalid("version is not one like 1.2.3")
        }
        guard let size = members["size"]?.integerValue else { throw Self.invalid("size is missing") }
        guard let hash = members["sha256"]?.stringValue.flatMap({ Hex.decode($0) }) else {
            throw Self.invalid("sha256 is missing")
        }
        var from: [VersionPattern] = []
        if let list = members["from"] {
            let texts = list.arrayValue?.map(\.stringValue)
            from = texts?.compactMap { $0.flatMap { VersionPattern($0) } } ?? []
            guard let texts, texts.count == from.count else { throw Self.invalid("from is not a list of versions") }
        }
        var descriptions = LocalizedText()
        if let texts = members["descriptions"] { descriptions = try LocalizedText(texts) }
        let isDowngrade = members["downgrade"] ?? false
        guard let isDowngrade = isDowngrade.boolValue else { throw Self.invalid("downgrade must be true or false") }
        try self.init(
            model: model, version: version, size: size, hash: hash, from: from, descriptions: descriptions,
            isDowngrade: isDowngrade)
    }

    /// The JSON text that is signed.
    public var text: String {
        var json: JSONValue = [
            "type": .string(Self.type), "model": .string(model), "version": .string(version.description),
            "size": .integer(size), "sha256": .string(Hex.encode(hash)),
        ]
        if !from.isEmpty { json["from"] = .array(from.map { .string($0.description) }) }
        if !descriptions.isEmpty { json["descriptions"] = descriptions.json }
        if isDowngrade { json["downgrade"] = true }
        return json.jsonText
    }

    static func invalid(_ reason: String) -> IoTError {
        IoTError(.releaseManifestInvalid, "the release's manifest is malformed: \(reason)")
    }
}
