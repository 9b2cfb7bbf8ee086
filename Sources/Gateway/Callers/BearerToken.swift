package import IoTLink

/// The credential of a caller over TCP: an API token, which is a JWT with three base64url parts (RFC 7519 §3), or a
/// media key. It is never printed.
package struct BearerToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    package enum Kind: Sendable, Hashable {
        case api
        case key

        package var noun: String {
            switch self {
            case .api: "API token"
            case .key: "media key"
            }
        }

        /// The remedy if the credential is refused.
        package var remedy: String {
            switch self {
            case .api: "create a new one with `iotctl token create --api`"
            case .key: "create a new one with `iotctl key create`"
            }
        }
    }

    static let maximumSize = 4096

    /// The token or key. With `proof`, only the key's id.
    package let text: String
    package let kind: Kind
    /// The answer to a digest challenge, if the key itself was not sent.
    package let proof: KeyProof?

    /// `nil` for text of another form. Only ASCII is accepted: Swift can take quadratic time to compare and hash other
    /// text.
    package init?(_ text: some Sequence<UInt8>) {
        var bytes: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                bytes.append(byte)
            default: return nil
            }
            guard bytes.count <= Self.maximumSize else { return nil }
        }
        proof = nil
        self.text = String(decoding: bytes, as: UTF8.self)
        if MediaKey(self.text) != nil {
            kind = .key
        } else if bytes.count >= 5, bytes.count(where: { $0 == UInt8(ascii: ".") }) == 2 {
            kind = .api
        } else {
            return nil
        }
    }

    /// `nil` if the user name does not have the form of a media key's id, or the texts are too long.
    package init?(_ proof: KeyProof) {
        let texts = [
            proof.id, proof.algorithm, proof.method, proof.uri, proof.nonce, proof.clientNonce, proof.response,
        ]
        guard MediaKey.isID(proof.id), texts.reduce(0, { $0 + ($1?.utf8.count ?? 0) }) <= Self.maximumSize else {
            return nil
        }
        text = proof.id
        kind = .key
        self.proof = proof
    }

    package var description: String { kind.noun }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
