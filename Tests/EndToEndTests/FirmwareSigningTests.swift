import Foundation
import Testing

/// `iotctl firmware key|sign|verify` as processes without a daemon; OpenSSL checks their keys and signatures.
@Suite(.timeLimit(.minutes(2))) struct FirmwareSigningTests {
    private func firmware(_ arguments: String...) async throws -> Program.Outcome {
        try await Program(
            path: Product.program("iotctl"), arguments: ["firmware"] + arguments,
            environment: ["IOTCTL_SOCKET": "/nonexistent/socket"]
        ).run()
    }

    /// A signed release: its file and the key's.
    private func release(_ folder: TemporaryFolder, _ more: String...) async throws -> (file: String, key: String) {
        let (file, key) = (folder.path("box.deb"), folder.path("release.key"))
        try Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: URL(fileURLWithPath: file))
        let made = try await firmware("key", "create", key)
        #expect(made.status == 0 && made.text.contains("SHA256:"), "\(made.errors)")
        let arguments = ["sign", file, "--key", key, "--model", "box", "--version", "0.2.0"] + more
        let signed = try await Program(path: Product.program("iotctl"), arguments: ["firmware"] + arguments).run()
        #expect(signed.status == 0 && signed.text.contains("0.2.0 for box, 3000000 bytes"), "\(signed.errors)")
        return (file, key)
    }

    @Test("OpenSSL verifies the signature with the public half, and only the owner can read the private one")
    func openSSL() async throws {
        let folder = try TemporaryFolder()
        let (file, key) = try await release(folder)
        let verified = try await Program.named(
            "openssl",
            [
                "pkeyutl", "-verify", "-pubin", "-inkey", key + ".pub", "-rawin", "-in", file + ".manifest", "-sigfile",
                file + ".manifest.sig",
            ]
        ).run()
        #expect(verified.status == 0 && verified.text.contains("Verified Successfully"), "\(verified.errors)")
        let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let before = try Data(contentsOf: URL(fileURLWithPath: key))
        let again = try await firmware("key", "create", key)
        #expect(again.status == 1 && again.errors.contains("25017"), "\(again.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: key)) == before)
    }

    @Test("A release that was made as it should be is accepted, and each other one refused with its number")
    func verify() async throws {
        let folder = try TemporaryFolder()
        let (file, key) = try await release(folder, "--from", "0.1.*")
        let trusted = key + ".pub"
        let good = try await firmware("verify", file, "--key", trusted, "--model", "box", "--installed", "0.1.7")
        #expect(good.status == 0 && good.text == "\(file): 0.2.0 for box, 3000000 bytes\n", "\(good.errors)")

        func number(_ arguments: String...) async throws -> String {
            let outcome = try await Program(
                path: Product.program("iotctl"), arguments: ["firmware", "verify", file] + arguments
            ).run()
            #expect(outcome.status == 1)
            return String(outcome.errors.drop { !$0.isNumber }.prefix { $0.isNumber })
        }
        #expect(try await number("--key", trusted, "--model", "other") == "25143")
        #expect(try await number("--key", trusted, "--model", "box", "--installed", "0.3.0") == "25144")
        #expect(try await number("--key", trusted, "--model", "box", "--installed", "0.0.9") == "25144")
        let stranger = folder.path("stranger.key")
        _ = try await firmware("key", "create", stranger)
        #expect(try await number("--key", stranger + ".pub") == "25141")

        // The file is another one of the same size.
        let url = URL(fileURLWithPath: file)
        let content = try Data(contentsOf: url)
        var changed = content
        changed[1_500_000] ^= 1
        try changed.write(to: url)
        #expect(try await number("--key", trusted) == "25142")
        try content.dropLast().write(to: url)
        #expect(try await number("--key", trusted) == "25142")
        try content.write(to: url)

        // The manifest says something else than what was signed.
        let manifest = URL(fileURLWithPath: file + ".manifest")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        try text.replacing("0.2.0", with: "0.9.0").write(to: manifest, atomically: true, encoding: .utf8)
        #expect(try await number("--key", trusted) == "25141")
    }

    @Test("A private key that others can read is refused, and a public key is not one")
    func keys() async throws {
        let folder = try TemporaryFolder()
        let (file, key) = try await release(folder)
        let publicKey = try await firmware("sign", file, "--key", key + ".pub", "--model", "box", "--version", "1.0.0")
        #expect(publicKey.status == 1, "\(publicKey.text)")
        chmod(key, 0o644)
        let readable = try await firmware("sign", file, "--key", key, "--model", "box", "--version", "1.0.0")
        #expect(readable.status == 1 && readable.errors.contains("25002"), "\(readable.errors)")
    }

    @Test("Wrong usage is status 2")
    func usage() async throws {
        let downgrade = try await firmware(
            "sign", "x", "--key", "k", "--model", "box", "--version", "1.0.0", "--downgrade")
        #expect(downgrade.status == 2 && downgrade.errors.contains("--downgrade requires --from"))
        let version = try await firmware("sign", "x", "--key", "k", "--model", "box", "--version", "1.0")
        #expect(version.status == 2 && version.errors.contains("1.0"), "\(version.errors)")
    }
}
