public import IoTCore

/// Compares a file with the manifest of its release, part by part.
public struct ReleaseFileCheck: Sendable {
    private let manifest: ReleaseManifest
    private var digest = FileDigest()

    public init(_ manifest: ReleaseManifest) {
        self.manifest = manifest
    }

    /// Takes the next bytes of the file.
    ///
    /// - Throws: `releaseFileDiffers` as soon as there are too many.
    public mutating func update(_ bytes: [UInt8]) throws(IoTError) {
        guard Int64(bytes.count) <= manifest.size - digest.size else {
            throw IoTError(
                .releaseFileDiffers, "the file has more than the \(manifest.size) bytes of the release's manifest")
        }
        digest.update(bytes)
    }

    /// - Throws: `releaseFileDiffers` if the file is too short or another one.
    public func finish() throws(IoTError) {
        guard digest.size == manifest.size else {
            throw IoTError(
                .releaseFileDiffers,
                "the file has \(digest.size) bytes, the release's manifest says \(manifest.size)")
        }
        guard digest.hash == manifest.hash else {
            throw IoTError(.releaseFileDiffers, "the file's SHA-256 is not that of the release's manifest")
        }
    }

    /// Compares a file that is read part by part; an empty part is its end.
    ///
    /// - Throws: `releaseFileDiffers`, and what `part` throws.
    public static func run(
        _ manifest: ReleaseManifest, part: (_ place: Int64) throws(IoTError) -> [UInt8]
    ) throws(IoTError) {
        var check = ReleaseFileCheck(manifest)
        while true {
            let bytes = try part(check.digest.size)
            guard !bytes.isEmpty else { break }
            try check.update(bytes)
        }
        try check.finish()
    }
}
