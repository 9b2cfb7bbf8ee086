import Foundation
import IoTCore
import SwiftProtobuf
import Testing

@testable import NetConfig

@Suite struct ClientHandshakeTests {
    /// The client before the device's last message, and that message.
    private func last(_ security: Int) throws -> (client: ClientHandshake, message: ESPSessionData) {
        let isFirst = security == 1
        let credential: DeviceCredential =
            isFirst ? .possession("abcd1234") : .verifier(try SRPVerifier(user: "u", password: "abcd1234"))
        var client = try ClientHandshake(
            isFirst ? .possession("abcd1234") : .password(user: "u", password: "abcd1234"), random: SystemRandom.bytes)
        let device = try DeviceHandshake(
            try ESPSessionData(serializedBytes: client.opening), credential: credential, random: SystemRandom.bytes)
        let proof = try client.prove(device.answer)
        let end = try device.finish(try ESPSessionData(serializedBytes: proof), random: SystemRandom.bytes)
        return (client, try ESPSessionData(serializedBytes: end.answer))
    }

    private func code(_ client: ClientHandshake, _ message: ESPSessionData) throws -> ErrorCode? {
        let body: [UInt8] = try message.serializedBytes()
        do throws(IoTError) {
            _ = try client.finish(body)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("A device that cannot prove that it knows the secret is told nothing", arguments: [1, 2])
    func impostor(security: Int) throws {
        let (client, message) = try last(security)
        #expect(try code(client, message) == nil)
        var changed = message
        if security == 1 {
            changed.x25519.response1.deviceProof[0] ^= 1
        } else {
            changed.srp6A.response1.deviceProof[0] ^= 1
        }
        #expect(try code(client, changed) == .provisioningProofWrong)
        if security == 1 {
            changed.x25519.response1.deviceProof = Data()
        } else {
            changed.srp6A.response1.deviceProof = Data()
        }
        #expect(try code(client, changed) == .provisioningProofWrong)
    }

    @Test("A nonce of the old length, and a device's refusal, have their numbers")
    func refusals() throws {
        let (client, end) = try last(2)
        var message = end
        message.srp6A.response1.nonce = Data(count: 16)
        #expect(try code(client, message) == .provisioningSecurity)
        for (status, expected) in [
            (ESPStatus.cryptoError, ErrorCode.provisioningProofWrong), (.invalidSecurityScheme, .provisioningSecurity),
            (.tooManySessions, .tooManyRequests), (.internalError, .provisioningRefused),
        ] {
            message.srp6A.response1.status = status
            #expect(try code(client, message) == expected)
        }
        message.security = .x25519
        #expect(try code(client, message) == .provisioningSecurity)

    }
}
