import Crypto
import Foundation
import Testing

@testable import NetConfig

@Suite struct SessionCipherTests {
    private let vectors: ProvisioningVectors

    init() throws {
        vectors = try ProvisioningVectors()
    }

    @Test("Security 1: key and stream are the independent implementation's, from either side", arguments: 0..<3)
    func security1(number: Int) throws {
        let vector = vectors.cases("security1")[number]
        let client = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: vector["client"])
        let device = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: vector["device"])
        let proof = vector.text("proof")
        let key = ProofKey.key(own: client, other: Array(device.publicKey.rawRepresentation), proof: proof)
        #expect(key == vector["key"])
        #expect(ProofKey.key(own: device, other: Array(client.publicKey.rawRepresentation), proof: proof) == key)
        var stream = try #require(KeyStream(key: vector["key"], start: vector["start"]))
        for (plain, sealed) in zip(vector.list("plain"), vector.list("sealed")) {
            #expect(stream.apply(plain) == sealed)
        }
    }

    @Test("The counter of the stream carries over all of its 128 bits")
    func carry() throws {
        let key = SystemRandom.bytes(32)
        var last = try #require(KeyStream(key: key, start: [UInt8](repeating: 0xFF, count: 16)))
        var zero = try #require(KeyStream(key: key, start: [UInt8](repeating: 0, count: 16)))
        let zeros = [UInt8](repeating: 0, count: 16)
        _ = last.apply(zeros)
        #expect(last.apply(zeros) == zero.apply(zeros))
        #expect(KeyStream(key: [1], start: zeros) == nil)
        #expect(KeyStream(key: key, start: [1]) == nil)
    }

    @Test("X25519 refuses a key that would make the secret zero (RFC 7748 §6.1), and one of another length")
    func weakKeys() {
        let own = Curve25519.KeyAgreement.PrivateKey()
        #expect(ProofKey.key(own: own, other: [UInt8](repeating: 0, count: 32), proof: "x") == nil)
        #expect(ProofKey.key(own: own, other: [1, 2, 3], proof: "x") == nil)
    }

    @Test("Security 2: nonces count with each message of either direction")
    func security2() throws {
        let vector = vectors.cases("security2")[0]
        var sender = try #require(NonceCounterCipher(sessionKey: vector["key"], nonce: vector["nonce"]))
        var receiver = sender
        for (plain, sealed) in zip(vector.list("plain"), vector.list("sealed")) {
            #expect(sender.seal(plain) == sealed)
            #expect(receiver.open(sealed) == plain)
        }
    }

    @Test("A message that is replayed, out of order, cut or changed does not open, and the next still does")
    func tampering() throws {
        var sender = try #require(
            NonceCounterCipher(sessionKey: SystemRandom.bytes(64), nonce: SystemRandom.bytes(8) + [0, 0, 0, 1]))
        var receiver = sender
        let first = try sender.sealed([1])
        let second = try sender.sealed([2])
        #expect(receiver.open(second) == nil)
        #expect(receiver.open(first) == [1])
        #expect(receiver.open(first) == nil)
        #expect(receiver.open(Array(second.dropLast())) == nil)
        #expect(receiver.open([]) == nil)
        var changed = second
        changed[0] ^= 1
        #expect(receiver.open(changed) == nil)
        #expect(receiver.open(second) == [2])
    }

    @Test("A counter that was used up says nothing more: no nonce comes twice")
    func exhaustion() throws {
        var cipher = try #require(
            NonceCounterCipher(
                sessionKey: SystemRandom.bytes(64), nonce: SystemRandom.bytes(8) + [0xFF, 0xFF, 0xFF, 0xFE]))
        #expect(cipher.seal([1]) != nil)
        #expect(cipher.seal([1]) != nil)
        #expect(cipher.seal([1]) == nil)
        #expect(NonceCounterCipher(sessionKey: [1], nonce: SystemRandom.bytes(12)) == nil)
        #expect(NonceCounterCipher(sessionKey: SystemRandom.bytes(64), nonce: SystemRandom.bytes(16)) == nil)
    }
}
