import Crypto
import Foundation
import SwiftProtobuf

/// The device's side of opening a session, between the client's first message and its proof. Owns no socket or clock.
struct DeviceHandshake: Sendable {
    enum Failure: Error {
        /// Not a message of this protocol, or not the next one.
        case malformed
        /// Another security version than the device's.
        case wrongSecurity
        case wrongProof
    }

    private enum Stage: Sendable {
        case x25519(KeyStream, publicKey: [UInt8], clientKey: [UInt8])
        case srp(SRPDevice, user: String, clientKey: [UInt8])
    }

    private let stage: Stage
    /// The answer to the client's first message.
    let answer: [UInt8]

    enum Kind {
        case opening, proof, neither
    }

    /// Which of a client's two messages this is.
    static func kind(_ message: ESPSessionData) -> Kind {
        switch message.handshake {
        case .x25519(let step)?:
            switch step.payload {
            case .command0?: .opening
            case .command1?: .proof
            default: .neither
            }
        case .srp6A(let step)?:
            switch step.payload {
            case .command0?: .opening
            case .command1?: .proof
            default: .neither
            }
        // Security 0 is never used.
        case .some(.none), nil: .neither
        }
    }

    /// - Parameter random: Returns the requested number of random bytes.
    init(
        _ message: ESPSessionData, credential: DeviceCredential, random: @Sendable (Int) -> [UInt8]
    ) throws(Failure) {
        var answer = ESPSessionData()
        switch (credential, message.handshake) {
        case (.possession(let proof), .x25519(let step)?):
            guard message.security == .x25519 else { throw .wrongSecurity }
            guard step.kind == 0, case .command0(let command)? = step.payload, command.clientKey.count == 32,
                let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: random(32)),
                let shared = ProofKey.key(own: key, other: Array(command.clientKey), proof: proof)
            else { throw .malformed }
            let start = random(16)
            guard let stream = KeyStream(key: shared, start: start) else { throw .malformed }
            let publicKey = Array(key.publicKey.rawRepresentation)
            stage = .x25519(stream, publicKey: publicKey, clientKey: Array(command.clientKey))
            answer.security = .x25519
            answer.x25519.kind = 1
            answer.x25519.response0 = .with {
                $0.deviceKey = Data(publicKey)
                $0.deviceRandom = Data(start)
            }
        case (.verifier(let verifier), .srp6A(let step)?):
            guard message.security == .srp6A else { throw .wrongSecurity }
            guard step.kind == 0, case .command0(let command)? = step.payload,
                command.clientKey.count == SRPGroup.size, (1...64).contains(command.user.count),
                let user = String(validating: command.user, as: UTF8.self)
            else { throw .malformed }
            let device = SRPDevice(verifier: verifier) { random(32) }
            // A wrong user gets the same answer; only the proof is refused.
            stage = .srp(device, user: user, clientKey: Array(command.clientKey))
            answer.security = .srp6A
            answer.srp6A.kind = 1
            answer.srp6A.response0 = .with {
                $0.deviceKey = Data(device.publicKey)
                $0.salt = Data(verifier.salt)
            }
        case (_, nil):
            throw .malformed
        default:
            // Includes security 0, which is never used.
            throw .wrongSecurity
        }
        self.answer = (try? answer.serializedBytes()) ?? []
    }

    /// Checks the client's proof; returns our proof and the session's cipher.
    func finish(
        _ message: ESPSessionData, random: @Sendable (Int) -> [UInt8]
    ) throws(Failure) -> (answer: [UInt8], cipher: SessionCipher) {
        var answer = ESPSessionData()
        let cipher: SessionCipher
        switch (stage, message.handshake) {
        case (.x25519(var stream, let publicKey, let clientKey), .x25519(let step)?):
            guard step.kind == 2, case .command1(let command)? = step.payload else { throw .malformed }
            guard ConstantTime.equal(stream.apply(Array(command.clientProof)), publicKey) else { throw .wrongProof }
            answer.security = .x25519
            answer.x25519.kind = 3
            answer.x25519.response1.deviceProof = Data(stream.apply(clientKey))
            cipher = .keyStream(stream)
        case (.srp(let device, let user, let clientKey), .srp6A(let step)?):
            guard step.kind == 2, case .command1(let command)? = step.payload else { throw .malformed }
            guard
                let agreed = device.verify(
                    user: user, clientKey: clientKey, clientProof: Array(command.clientProof))
            else { throw .wrongProof }
            // Patch version 1: 8 bytes for the session, and a counter that starts at 1.
            let nonce = random(8) + [0, 0, 0, 1]
            guard let counting = NonceCounterCipher(sessionKey: agreed.sessionKey, nonce: nonce) else {
                throw .malformed
            }
            answer.security = .srp6A
            answer.srp6A.kind = 3
            answer.srp6A.response1 = .with {
                $0.deviceProof = Data(agreed.proof)
                $0.nonce = Data(nonce)
            }
            cipher = .counter(counting)
        default:
            throw .malformed
        }
        return ((try? answer.serializedBytes()) ?? [], cipher)
    }
}
