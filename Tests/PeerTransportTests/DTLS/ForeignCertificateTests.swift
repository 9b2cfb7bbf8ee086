import COpenSSL
import IoTCore
import Testing

@testable import PeerTransport

/// Peers' certificates with other kinds of keys than ours (RFC 8827 §6.5 requires at least P-256).
@Suite struct ForeignCertificateTests {
    enum Key: String, CaseIterable, Sendable {
        case p256 = "P-256"
        case p384 = "P-384"
        case p521 = "P-521"
        case rsa = "RSA"

        /// The caller owns the result.
        func make() throws -> OpaquePointer {
            let context = try #require(EVP_PKEY_CTX_new_from_name(nil, self == .rsa ? "RSA" : "EC", nil))
            defer { EVP_PKEY_CTX_free(context) }
            try #require(EVP_PKEY_keygen_init(context) == 1)
            if self == .rsa {
                try #require(EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1)
            } else {
                try #require(EVP_PKEY_CTX_set_group_name(context, rawValue) == 1)
            }
            var key: OpaquePointer?
            try #require(EVP_PKEY_generate(context, &key) == 1)
            return try #require(key)
        }
    }

    @Test("A peer with any usual kind of key is accepted, as DTLS client and as server", arguments: Key.allCases)
    func accepted(key: Key) throws {
        for role in [DTLSSession.Role.client, .server] {
            let foreign = try PeerCertificate(key: key.make(), days: 30)
            let own = try PeerCertificate.generate()
            let theirs = try DTLSSession(certificate: foreign, role: role, remoteFingerprints: [own.fingerprint])
            let ours = try DTLSSession(
                certificate: own, role: role == .client ? .server : .client,
                remoteFingerprints: [foreign.fingerprint])
            (role == .client ? theirs : ours).start()
            for _ in 0..<20 {
                while let datagram = theirs.nextDatagram() { ours.receive(datagram) }
                while let datagram = ours.nextDatagram() { theirs.receive(datagram) }
            }
            #expect(try DTLSSessionTests.keys(ours).keyingMaterial == DTLSSessionTests.keys(theirs).keyingMaterial)
        }
    }
}
