import IoTCore
import IoTLink

extension KeyProof {
    /// The parameters of `key.prove` that a gateway sends for a player with the key.
    static func made(with key: String, _ algorithm: DigestAlgorithm = .md5, hasQuality: Bool = true) -> JSONValue {
        let challenge = HTTPDigest(
            realm: "iotvideod", nonce: "0123456789abcdef", algorithm: algorithm, hasQuality: hasQuality)
        let text = challenge.authorization(
            username: String(key.prefix(10)), password: key, method: "DESCRIBE", uri: "rtsp://h/front",
            clientNonce: "c", count: 1)
        guard let authorization = DigestAuthorization(text) else { return .null }
        return KeyProof(authorization, method: "DESCRIBE").json
    }
}
