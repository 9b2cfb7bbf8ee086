import IoTCore
import Testing

@testable import NetConfig

@Suite struct SRPTests {
    private let vectors: ProvisioningVectors

    init() throws {
        vectors = try ProvisioningVectors()
    }

    @Test("The group is the one of 3072 bits of RFC 5054, and k is its")
    func group() throws {
        #expect(SRPGroup.primeBytes == vectors.prime)
        #expect(SRPGroup.primeBytes.count == SRPGroup.size)
        #expect(SRPGroup.multiplier.bytes(count: 64) == vectors.multiplier)
    }

    @Test("Verifier, keys, session key and proofs of both sides are the independent implementation's", arguments: 0..<3)
    func vectors(number: Int) throws {
        let vector = vectors.cases("srp")[number]
        let (user, password) = (vector.text("user"), vector.text("password"))
        let verifier = try SRPVerifier(user: user, password: password, salt: vector["salt"])
        #expect(verifier.verifier == vector["verifier"])

        let client = SRPClient(user: user, password: password) { vector["a"] }
        let device = SRPDevice(verifier: verifier) { vector["b"] }
        #expect(client.publicKey == vector["A"])
        #expect(device.publicKey == vector["B"])
        #expect(
            SRPGroup.scrambler(clientKey: client.publicKey, deviceKey: device.publicKey).bytes(count: 64)
                == vector["u"])
        let agreement = try #require(client.agree(salt: vector["salt"], deviceKey: device.publicKey))
        #expect(agreement.sessionKey == vector["K"])
        #expect(agreement.proof == vector["clientProof"])
        #expect(agreement.expectedProof == vector["deviceProof"])
        let answer = try #require(
            device.verify(user: user, clientKey: client.publicKey, clientProof: agreement.proof))
        #expect(answer.sessionKey == vector["K"])
        #expect(answer.proof == vector["deviceProof"])
    }

    @Test("A public key that is 0 in the group is refused by either side (RFC 5054 §2.5.3, §2.5.4)")
    func zeroKeys() throws {
        let verifier = try SRPVerifier(user: "u", password: "p")
        let device = SRPDevice(verifier: verifier, random: { SystemRandom.bytes(32) })
        let zero = [UInt8](repeating: 0, count: SRPGroup.size)
        // With S = 0 its proof would be known to everybody.
        let key = SRPGroup.hash([])
        for clientKey in [zero, SRPGroup.primeBytes] {
            let proof = SRPGroup.clientProof(
                user: "u", salt: verifier.salt, clientKey: clientKey, deviceKey: device.publicKey, sessionKey: key)
            #expect(device.verify(user: "u", clientKey: clientKey, clientProof: proof) == nil)
        }
        let client = SRPClient(user: "u", password: "p") { SystemRandom.bytes(32) }
        #expect(client.agree(salt: verifier.salt, deviceKey: zero) == nil)
        #expect(client.agree(salt: verifier.salt, deviceKey: SRPGroup.primeBytes) == nil)
        #expect(client.agree(salt: [], deviceKey: device.publicKey) == nil)
    }

    @Test("A wrong password, a wrong user and a proof with one bit changed are refused")
    func wrongProofs() throws {
        let device = SRPDevice(verifier: try SRPVerifier(user: "u", password: "p")) { SystemRandom.bytes(32) }
        let salt = try SRPVerifier(user: "u", password: "p").salt
        let right = SRPClient(user: "u", password: "p") { SystemRandom.bytes(32) }
        let wrong = SRPClient(user: "u", password: "q") { SystemRandom.bytes(32) }
        let wrongProof = try #require(wrong.agree(salt: salt, deviceKey: device.publicKey)).proof
        #expect(device.verify(user: "u", clientKey: wrong.publicKey, clientProof: wrongProof) == nil)
        var proof = try #require(right.agree(salt: salt, deviceKey: device.publicKey)).proof
        #expect(device.verify(user: "v", clientKey: right.publicKey, clientProof: proof) == nil)
        proof[63] ^= 1
        #expect(device.verify(user: "u", clientKey: right.publicKey, clientProof: proof) == nil)
        #expect(device.verify(user: "u", clientKey: right.publicKey, clientProof: []) == nil)
    }

    @Test("No public key begins with a zero, which tools hash differently")
    func fullKeys() throws {
        // One in 256 would.
        var tried = 0
        let verifier = try SRPVerifier(user: "u", password: "p")
        for _ in 0..<40 {
            #expect(SRPClient(user: "u", password: "p") { SystemRandom.bytes(32) }.publicKey[0] != 0)
            #expect(SRPDevice(verifier: verifier) { SystemRandom.bytes(32) }.publicKey[0] != 0)
        }
        // With an exponent of 0 or 1, A would be 1 or 5: it is drawn again.
        let client = SRPClient(user: "u", password: "p") {
            tried += 1
            return tried < 3 ? [UInt8](repeating: 0, count: 31) + [UInt8(tried - 1)] : SystemRandom.bytes(32)
        }
        #expect(tried >= 3)
        #expect(client.publicKey.count == SRPGroup.size)
    }

    @Test("A verifier that is not of the group, and an empty user, are refused")
    func verifiers() {
        #expect(throws: IoTError.self) { try SRPVerifier(user: "", password: "p") }
        #expect(throws: IoTError.self) { try SRPVerifier(user: "u", salt: [1], verifier: []) }
        #expect(throws: IoTError.self) { try SRPVerifier(user: "u", salt: [1], verifier: SRPGroup.primeBytes) }
        #expect(throws: IoTError.self) { try SRPVerifier(user: "u", salt: [], verifier: [2]) }
    }
}
