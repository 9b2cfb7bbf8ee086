import Crypto
import Foundation
import IoTCore
import SwiftProtobuf

/// The client's side of opening a session (`prov-session`): two requests and two answers. Owns no socket or clock.
struct ClientHandshake: Sendable {
    private enum Stage: Sendable {
        case x25519(Curve25519.KeyAgreement.PrivateKey, proof: String)
        case srp(SRPClient, user: String)
        case x25519Proved(KeyStream, publicKey: [UInt8])
        case srpProved(SRPClient.Agreement)
    }

    private var stage: Stage
    /// The first message.
    let opening: [UInt8]

    /// - Parameter random: Returns the requested number of random bytes.
    init(_ credential: ProvisioningCredential, random: @Sendable (Int) -> [UInt8]) throws(IoTError) {
        var message = ESPSessionData()
        switch credential {
        case .possession(let proof):
            guard let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: random(32)) else {
                throw IoTError(.internalFailure, "no key could be made")
            }
            stage = .x25519(key, proof: proof)
            message.security = .x25519
            message.x25519.command0.clientKey = key.publicKey.rawRepresentation
        case .password(let user, let password):
            let client = SRPClient(user: user, password: password) { random(32) }
            stage = .srp(client, user: user)
            message.security = .srp6A
            message.srp6A.command0 = .with {
                $0.user = Data(user.utf8)
                $0.clientKey = Data(client.publicKey)
            }
        }
        opening = Self.bytes(message)
    }

    /// Takes the device's first message, and returns the message that proves our knowledge of the credential.
    mutating func prove(_ body: [UInt8]) throws(IoTError) -> [UInt8] {
        let message = try Self.parse(body)
        var answer = ESPSessionData()
        switch stage {
        case .x25519(let key, let proof):
            guard message.security == .x25519 else { throw Self.wrongSecurity }
            let response = message.x25519.response0
            try Self.check(response.status)
            guard let shared = ProofKey.key(own: key, other: Array(response.deviceKey), proof: proof),
                var stream = KeyStream(key: shared, start: Array(response.deviceRandom))
            else { throw Self.malformed }
            answer.security = .x25519
            answer.x25519.kind = 2
            answer.x25519.command1.clientProof = Data(stream.apply(Array(response.deviceKey)))
            stage = .x25519Proved(stream, publicKey: Array(key.publicKey.rawRepresentation))
        case .srp(let client, _):
            guard message.security == .srp6A else { throw Self.wrongSecurity }
            let response = message.srp6A.response0
            try Self.check(response.status)
            guard response.salt.count <= 64,
                let agreement = client.agree(salt: Array(response.salt), deviceKey: Array(response.deviceKey))
            else { throw Self.malformed }
            answer.security = .srp6A
            answer.srp6A.kind = 2
            answer.srp6A.command1.clientProof = Data(agreement.proof)
            stage = .srpProved(agreement)
        case .x25519Proved, .srpProved:
            throw Self.malformed
        }
        return Self.bytes(answer)
    }

    /// Takes the device's second message, which proves that the device also knows the credential.
    func finish(_ body: [UInt8]) throws(IoTError) -> SessionCipher {
        let message = try Self.parse(body)
        switch stage {
        case .x25519Proved(var stream, let publicKey):
            guard message.security == .x25519 else { throw Self.wrongSecurity }
            let response = message.x25519.response1
            try Self.check(response.status)
            guard ConstantTime.equal(stream.apply(Array(response.deviceProof)), publicKey) else {
                throw Self.impostor
            }
            return .keyStream(stream)
        case .srpProved(let agreement):
            guard message.security == .srp6A else { throw Self.wrongSecurity }
            let response = message.srp6A.response1
            try Self.check(response.status)
            guard ConstantTime.equal(Array(response.deviceProof), agreement.expectedProof) else { throw Self.impostor }
            guard let cipher = NonceCounterCipher(sessionKey: agreement.sessionKey, nonce: Array(response.nonce)) else {
                throw IoTError(
                    .provisioningSecurity,
                    "the device's nonce has \(response.nonce.count) bytes, which an old firmware repeats",
                    remedy: "update the device's firmware, or use security 1 if it offers that")
            }
            return .counter(cipher)
        case .x25519, .srp:
            throw Self.malformed
        }
    }

    private static func parse(_ body: [UInt8]) throws(IoTError) -> ESPSessionData {
        guard let message = try? ESPSessionData(serializedBytes: body) else { throw malformed }
        return message
    }

    private static func bytes(_ message: ESPSessionData) -> [UInt8] {
        // Only bytes and numbers: serializing them cannot fail.
        (try? message.serializedBytes()) ?? []
    }

    private static func check(_ status: ESPStatus) throws(IoTError) {
        guard status == .success else { throw IoTError.refusal(status, "the session") }
    }

    private static var malformed: IoTError {
        IoTError(.provisioningRefused, "the device's answer is not a message of this protocol")
    }

    private static var wrongSecurity: IoTError {
        IoTError(.provisioningSecurity, "the device answers with another security version than it was asked for")
    }

    private static var impostor: IoTError {
        IoTError(
            .provisioningProofWrong, "the device could not prove that it knows the same secret",
            remedy: "make sure that this is the camera's own access point, and compare the secret with its label")
    }
}

extension IoTError {
    /// The error for a device's status.
    static func refusal(_ status: ESPStatus, _ what: String) -> IoTError {
        switch status {
        case .invalidSecurityScheme:
            IoTError(.provisioningSecurity, "the device refuses this security version")
        case .cryptoError:
            IoTError(.provisioningProofWrong, "the device refuses the proof")
        case .tooManySessions:
            IoTError(.tooManyRequests, "the device serves another client")
        default:
            IoTError(.provisioningRefused, "the device refused \(what) with status \(status.rawValue)")
        }
    }
}
