import Firmware
import IoTCore

/// A release in the hub's store. Its file is in the `ReleaseStore`.
struct ReleaseRecord: Sendable, Hashable {
    /// 32 hexadecimal digits.
    var id: String
    var signed: SignedManifest
    /// Parsed from `signed`.
    var manifest: ReleaseManifest
    /// Seconds since 1970.
    var added: Int64
    /// Whether the whole file was received and compared with the manifest.
    var isComplete = false

    /// - Throws: `releaseManifestInvalid`, `releaseSignatureInvalid`.
    init(id: String, signed: SignedManifest, added: Int64, isComplete: Bool = false) throws(IoTError) {
        self.id = id
        self.signed = signed
        manifest = try signed.unverified()
        self.added = added
        self.isComplete = isComplete
    }

    var description: ReleaseDescription {
        ReleaseDescription(
            id: id, model: manifest.model, version: manifest.version.description, size: manifest.size,
            sha256: Hex.encode(manifest.hash), from: manifest.from.map(\.description),
            downgrade: manifest.isDowngrade, added: added, complete: isComplete)
    }

    /// With the signed text.
    var detail: ReleaseDescription {
        var detail = description
        detail.manifest = String(decoding: signed.bytes, as: UTF8.self)
        detail.signature = Base64.encode(signed.signature)
        return detail
    }
}
