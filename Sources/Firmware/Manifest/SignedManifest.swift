public import IoTCore

/// A manifest as its bytes came, and its signature, which is kept in a file of its own.
public struct SignedManifest: Sendable, Hashable {
    /// JSON text. The signature is for these bytes, so they are never written again from the parsed manifest.
    public let bytes: [UInt8]
    /// Ed25519 (RFC 8032), 64 bytes.
    public let signature: [UInt8]

    public init(bytes: [UInt8], signature: [UInt8]) {
        self.bytes = bytes
        self.signature = signature
    }

    public init(_ manifest: ReleaseManifest, signedWith key: ReleaseKey) throws(IoTError) {
        bytes = Array(manifest.text.utf8)
        signature = try key.signature(of: bytes)
    }

    /// The manifest, if one of the keys has signed it. Nothing of the text is parsed before.
    ///
    /// - Throws: `releaseSignatureInvalid`, `releaseManifestInvalid`.
    public func verify(_ keys: some Collection<ReleasePublicKey>) throws(IoTError) -> ReleaseManifest {
        guard !keys.isEmpty else {
            throw IoTError(
                .releaseSignatureInvalid, "no release key is trusted here",
                remedy: "install the public half of the release key")
        }
        guard bytes.count <= ReleaseManifest.maximumBytes, keys.contains(where: { $0.isValid(signature, of: bytes) })
        else { throw IoTError(.releaseSignatureInvalid) }
        return try ReleaseManifest(text: bytes)
    }

    /// The manifest without a check of its signature, for a hub, which trusts no release key. Devices use `verify`.
    ///
    /// - Throws: `releaseSignatureInvalid` if there cannot be a signature, `releaseManifestInvalid`.
    public func unverified() throws(IoTError) -> ReleaseManifest {
        guard signature.count == 64 else {
            throw IoTError(.releaseSignatureInvalid, "a signature has 64 bytes, not \(signature.count)")
        }
        return try ReleaseManifest(text: bytes)
    }
}
