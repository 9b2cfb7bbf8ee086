import Firmware
import IoTCore

extension FuzzTarget {
    /// A release's manifest, and the header of a bundle. Both, written and parsed again, are the same, and no signature is
    /// valid under a key that the input cannot know.
    static let release = FuzzTarget(
        "release",
        cost: ReadingCost { input in
            _ = try? ReleaseManifest(text: input)
            _ = try? BundleHeader(beginning: input)
        }
    ) { input in
        do {
            let manifest = try ReleaseManifest(text: input)
            let text = manifest.text
            try require(text.utf8.count <= ReleaseManifest.maximumBytes, "a manifest that is too long")
            try require(try ReleaseManifest(text: Array(text.utf8)) == manifest, "\(text) became another manifest")
        } catch let error as IoTError {
            try require(error.code == .releaseManifestInvalid, "the manifest is refused with \(error)")
        }
        do {
            let header = try BundleHeader(beginning: input)
            let bytes = header.bytes
            try require(bytes.count <= BundleHeader.maximumCount, "a header that is too long")
            try require(input.starts(with: bytes), "the header is not the bundle's beginning")
            try require(try BundleHeader(beginning: bytes) == header, "it became another header")
            do {
                _ = try header.signed.verify([key])
                try require(false, "a forged signature")
            } catch let error as IoTError {
                try require(error.code == .releaseSignatureInvalid, "the signature is refused with \(error)")
            }
        } catch let error as IoTError {
            try require(error.code == .releaseManifestInvalid, "the bundle is refused with \(error)")
        }
    }

    private static let key = ReleaseKey().publicKey
}
