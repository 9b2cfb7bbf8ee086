public import IoTCore

/// The signature of a session description's author, which travels beside the description.
public struct DescriptionProof: LinkValue, Hashable {
    /// As in `DevicePublicKey.text`.
    public var key: String
    /// 64 bytes in base64.
    public var signature: String
    /// `KeySuccession.text` of a device whose key was replaced.
    public var succession: String?

    init(key: String, signature: String, succession: String? = nil) {
        self.key = key
        self.signature = signature
        self.succession = succession
    }

    /// A malformed proof is one that is not valid.
    public init(_ members: LinkMembers) {
        key = members["key"]?.stringValue ?? ""
        signature = members["signature"]?.stringValue ?? ""
        succession = members["succession"]?.stringValue
    }

    /// The key that has signed this description for this call; `nil` if the signature is not valid.
    public func signer(of statement: String) -> DevicePublicKey? {
        guard let key = DevicePublicKey(key), signature.utf8.count == 88, let bytes = Base64.decode(signature),
            key.isValid(bytes, of: Array(statement.utf8))
        else { return nil }
        return key
    }

    /// Whether the device's earlier keys lead from the one with this fingerprint to the signer.
    public func leads(from fingerprint: KeyFingerprint, to signer: DevicePublicKey) -> Bool {
        succession.flatMap { KeySuccession($0) }?.leads(from: fingerprint, to: signer) ?? false
    }

    public var json: JSONValue {
        var members: [String: JSONValue] = ["key": .string(key), "signature": .string(signature)]
        members["succession"] = succession.map { .string($0) }
        return .object(members)
    }
}

extension DeviceKey {
    /// The proof of a description, which `CallIdentity.statement` describes.
    ///
    /// - Throws: `internalFailure`.
    public func prove(_ statement: String) throws(IoTError) -> DescriptionProof {
        DescriptionProof(
            key: publicKey.text, signature: Base64.encode(try signature(of: Array(statement.utf8))),
            succession: succession.isEmpty ? nil : succession.text)
    }
}

extension LinkMembers {
    /// The proof beside a description; `nil` if the description is not signed.
    var proof: DescriptionProof? {
        self["signature"] == nil && self["key"] == nil ? nil : DescriptionProof(self)
    }
}

extension JSONValue {
    /// This object with the members of the proof.
    func proven(by proof: DescriptionProof?) -> JSONValue {
        proof.map { merging($0.json) } ?? self
    }
}
