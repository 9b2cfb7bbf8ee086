import Foundation
import IoTCore
import Testing

@testable import IoTLink

@Suite struct DeviceKeyTests {
    /// RFC 8410 §10.1 and §10.3.
    private static let pem = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
        -----END PRIVATE KEY-----

        """
    private static let publicText = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="

    @Test("The key pair of RFC 8410, and its fingerprint as openssl computes it")
    func vector() throws {
        let key = try #require(DeviceKey(pem: Self.pem))
        #expect(key.pem == Self.pem)
        #expect(key.publicKey.text == Self.publicText)
        // openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | openssl base64
        #expect(key.publicKey.fingerprint.description == "SHA256:oekVYFTgT6yJmunydRMs3Ael28TqLCrTof/G4NJTaB8")
        #expect(DevicePublicKey(Self.publicText) == key.publicKey)
    }

    @Test("The signature of RFC 8032 §7.1, test 2, is valid; with another message or key it is not")
    func signature() throws {
        let seed = try #require(Hex.decode("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
        let wanted =
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        let prefix: [UInt8] = [
            0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
        ]
        let body = Data(prefix + seed).base64EncodedString()
        let key = try #require(DeviceKey(pem: "-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----"))
        let signature = try key.signature(of: [0x72])
        #expect(key.publicKey.isValid(Hex.decode(wanted)!, of: [0x72]))
        #expect(key.publicKey.isValid(signature, of: [0x72]))
        #expect(!key.publicKey.isValid(signature, of: [0x73]))
        #expect(!DeviceKey().publicKey.isValid(signature, of: [0x72]))
        #expect(!key.publicKey.isValid([], of: [0x72]))
    }

    @Test("Keys of other types and malformed texts are refused")
    func refused() {
        // An X25519 key (in the form of RFC 8410 §10.2), and truncated, longer, empty and invalid texts.
        let x25519 = "MCowBQYDK2VuAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
        for text in [x25519, String(Self.publicText.dropLast(4)), Self.publicText + "AAAA", "", "?"] {
            #expect(DevicePublicKey(text) == nil, "\(text)")
        }
        for text in ["", "-----BEGIN PRIVATE KEY-----", Self.pem.replacing("MC4C", with: "MC4D")] {
            #expect(DeviceKey(pem: text) == nil, "\(text)")
        }
    }

    @Test("The key file is created once with mode 0600, never replaced, and refused if others can read it")
    func file() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/key.pem"
        let made = try DeviceKey(file: path)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try DeviceKey(file: path).publicKey == made.publicKey)
        #expect(!"\(made)".contains(made.pem.split(separator: "\n")[1]))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(throws: IoTError.self) { try DeviceKey(file: path) }
        try "damaged".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let error = #expect(throws: IoTError.self) { try DeviceKey(file: path) }
        #expect(error?.code == .fileFailed)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "damaged")
    }
}
