public import IoTCore

/// The signature of a session description's author, which travels beside the description.
public struct DescriptionProof: LinkValue, Hashable {
    /// As in `DevicePublicKey.text`.
    public var key: String
    /// 64 bytes in base64.
    public var signature: String

    init(key: String, signature: String) {
        self.key = key
        self.signature = signature
    }

    /// A malformed proof is one that is not valid.
    public init(_ members: LinkMembers) {
        key = members["key"]?.stringValue ?? ""
        signature = members["signature"]?.stringValue ?? ""
    }

    /// The key that has signed this description for this call; `nil` if the signature is not valid.
    public func signer(of statement: String) -> DevicePublicKey? {
        guard let key = DevicePublicKey(key), signature.utf8.count == 88, let bytes = Base64.decode(signature),
            key.isValid(bytes, of: Array(statement.utf8))
        else { return nil }
        return key
    }

    public var json: JSONValue { ["key": .string(key), "signature": .string(signature)] }
}

extension DeviceKey {
    /// The proof of a description, which `CallIdentity.statement` describes.
    ///
    /// - Throws: `internalFailure`.
    public func prove(_ statement: String) throws(IoTError) -> DescriptionProof {
        DescriptionProof(
            key: publicKey.text, signature: Base64.encode(try signature(of: Array(statement.utf8))))
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
