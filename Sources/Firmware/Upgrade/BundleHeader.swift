public import IoTCore

/// What precedes the file in a bundle: one file with a whole release, which the daemon hands to the program that
/// installs it. A line with the manifest's length, the manifest, and its signature.
public struct BundleHeader: Sendable, Hashable {
    private static let word = "iotvideod release 1"
    private static let signatureCount = 64
    /// As many bytes as a header can have.
    public static let maximumCount = ReleaseManifest.maximumBytes + signatureCount + 64

    public let signed: SignedManifest

    public init(_ signed: SignedManifest) {
        self.signed = signed
    }

    /// - Parameter bytes: the beginning of a bundle, at least `maximumCount` bytes or all.
    /// - Throws: `releaseManifestInvalid`.
    public init(beginning bytes: [UInt8]) throws(IoTError) {
        let line = bytes.prefix(64).prefix { $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, words.dropLast().joined(separator: " ") == Self.word, let count = Int(words[3]),
            (0...ReleaseManifest.maximumBytes).contains(count)
        else { throw ReleaseManifest.invalid("the file is not a bundle") }
        let rest = bytes.dropFirst(line.count + 1)
        guard rest.count >= count + Self.signatureCount else {
            throw ReleaseManifest.invalid("the bundle ends within its header")
        }
        signed = SignedManifest(
            bytes: Array(rest.prefix(count)),
            signature: Array(rest.dropFirst(count).prefix(Self.signatureCount)))
        // One bundle has one header.
        guard bytes.starts(with: self.bytes) else { throw ReleaseManifest.invalid("the file is not a bundle") }
    }

    public var bytes: [UInt8] {
        Array("\(Self.word) \(signed.bytes.count)\n".utf8) + signed.bytes + signed.signature
    }
}
