import Foundation
import IoTCore
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import NetConfig

@Suite struct LANPasswordTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let bytes: @Sendable (Int) -> [UInt8] = { [UInt8](repeating: 7, count: $0) }

    private func made(_ password: String, salt: [UInt8] = [UInt8](repeating: 7, count: 16)) -> PasswordHash? {
        PasswordHash(of: password) { _ in salt }
    }

    @Test("The scrypt vector of RFC 7914 §12 for N=16384, r=8, p=1")
    func vector() throws {
        let hash = try #require(made("pleaseletmein", salt: Array("SodiumChloride".utf8)))
        let wanted = Hex.decode("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")!
        let part = try #require(hash.text.split(separator: "$").last)
        #expect(Base64.decode(part) == wanted)
        #expect(hash.text.hasPrefix("$scrypt$ln=14,r=8,p=1$"))
    }

    @Test("A stored hash parses again, matches only its password, and does not contain it")
    func hash() throws {
        let hash = try #require(made("correct horse"))
        #expect(PasswordHash(hash.text) == hash)
        #expect(hash.matches("correct horse") == true)
        #expect(hash.matches("correct horsf") == false)
        #expect(hash.matches("") == false)
        #expect(!hash.text.contains("correct"))
        let other = try #require(made("correct horse", salt: [UInt8](repeating: 8, count: 16)))
        #expect(other.text != hash.text, "each hash has its own salt")
        for text in ["", "$scrypt$ln=1,r=8,p=1$AAAA$AAAA", String(hash.text.dropLast(4)), "plain"] {
            #expect(PasswordHash(text) == nil, "\(text)")
        }
    }

    private func handle(
        _ guarded: inout LANPasswordGuard, _ password: String?, _ new: String? = nil, at seconds: Int64 = 0
    ) -> Result<LANPasswordGuard.Step, IoTError> {
        Result { () throws(IoTError) in
            try guarded.handle(password: password, newPassword: new, at: start + .seconds(seconds), random: bytes)
        }
    }

    @Test("Without a password the outcome is `null`; only a change needs the current password")
    func life() throws {
        var guarded = LANPasswordGuard(nil)
        guard case .success(.done(.null)) = handle(&guarded, "anything") else { throw IoTError(.internalFailure) }
        guard case .success(.store(let hash)) = handle(&guarded, nil, "first one") else {
            throw IoTError(.internalFailure)
        }
        guarded.stored(hash)
        guard case .success(.done(.ok)) = handle(&guarded, "first one") else { throw IoTError(.internalFailure) }
        guard case .failure(let error) = handle(&guarded, nil, "second one") else { throw IoTError(.internalFailure) }
        #expect(error.code == .lanPasswordWrong)
        // A missing password is not a guess: there is no delay after it.
        guard case .success(.store) = handle(&guarded, "first one", "second one") else {
            throw IoTError(.internalFailure)
        }
        // The new one was not stored, so the old one is still valid.
        guard case .success(.done(.ok)) = handle(&guarded, "first one", at: 1) else { throw IoTError(.internalFailure) }
    }

    @Test("After wrong passwords, even the right one is refused for 1, 2, 4 … 64 s")
    func delay() throws {
        var guarded = LANPasswordGuard(made("correct horse"))
        var now: Int64 = 0
        for wait in [1, 2, 4, 8, 16, 32, 64, 64] as [Int64] {
            guard case .failure(let wrong) = handle(&guarded, "guess", at: now) else {
                throw IoTError(.internalFailure)
            }
            #expect(wrong.code == .lanPasswordWrong)
            #expect(!wrong.description.contains("guess"))
            guard case .failure(let early) = handle(&guarded, "correct horse", at: now + wait - 1) else {
                throw IoTError(.internalFailure, "it was accepted \(wait - 1) s after a wrong one")
            }
            #expect(early.code == .tooManyRequests)
            now += wait
        }
        guard case .success(.done(.ok)) = handle(&guarded, "correct horse", at: now) else {
            throw IoTError(.internalFailure)
        }
        guard case .failure = handle(&guarded, "guess", at: now),
            case .success(.done(.ok)) = handle(&guarded, "correct horse", at: now + 1)
        else { throw IoTError(.internalFailure, "the delay starts again at 1 s after the right one") }
    }

    @Test(
        "An invalid new password is refused",
        arguments: ["", "seven77", String(repeating: "a", count: 65), "line\nbreak", "nul\u{0}nul\u{0}"])
    func invalid(password: String) {
        var guarded = LANPasswordGuard(nil)
        guard case .failure(let error) = handle(&guarded, nil, password) else {
            Issue.record("accepted")
            return
        }
        #expect(error.code == .invalidParameter)
        #expect(password.isEmpty || !error.description.contains(password))
    }

    @Test("A new password has up to 64 characters, whatever their bytes")
    func longest() {
        var guarded = LANPasswordGuard(nil)
        guard case .failure = handle(&guarded, nil, String(repeating: "é", count: 64)) else { return }
        Issue.record("refused")
    }

    // MARK: In its file

    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    @Test("The password is persistent, in a file that only its owner can read and that does not contain it")
    func file() async throws {
        try await withFile { folder in
            let path = folder + "/lan-password"
            let first = LANPasswordFile(path: path)
            #expect(try await first.handle(password: "x", newPassword: nil) == .null)
            #expect(try await first.handle(password: nil, newPassword: "correct horse") == .changed)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            let kept = try String(contentsOfFile: path, encoding: .utf8)
            #expect(!kept.contains("horse"))
            let second = LANPasswordFile(path: path)
            #expect(try await second.handle(password: "correct horse", newPassword: nil) == .ok)
            let error = await #expect(throws: IoTError.self) {
                try await second.handle(password: "guess", newPassword: "another one")
            }
            #expect(error?.code == .lanPasswordWrong)
        }
    }

    @Test("If the new password cannot be stored, the error is 25082 and the old one stays valid")
    func changeFailed() async throws {
        try await withFile { folder in
            let path = folder + "/place/lan-password"
            try FileManager.default.createDirectory(atPath: folder + "/place", withIntermediateDirectories: true)
            let file = LANPasswordFile(path: path)
            #expect(try await file.handle(password: nil, newPassword: "correct horse") == .changed)
            // A missing directory, because root can write to every existing one.
            try FileManager.default.moveItem(atPath: folder + "/place", toPath: folder + "/elsewhere")
            let error = await #expect(throws: IoTError.self) {
                try await file.handle(password: "correct horse", newPassword: "another one")
            }
            #expect(error?.code == .lanPasswordChangeFailed)
            try FileManager.default.moveItem(atPath: folder + "/elsewhere", toPath: folder + "/place")
            #expect(try await file.handle(password: "correct horse", newPassword: nil) == .ok)
            #expect(try await LANPasswordFile(path: path).handle(password: "correct horse", newPassword: nil) == .ok)
        }
    }

    @Test("A damaged file, or one that others can read, is refused and does not count as no password")
    func damaged() async throws {
        try await withFile { folder in
            let path = folder + "/lan-password"
            for (text, mode) in [("", 0o600), ("$scrypt$ln=14,r=8,p=1$", 0o600), ("x", 0o644)] {
                try text.write(toFile: path, atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                await #expect(throws: IoTError.self) {
                    try await LANPasswordFile(path: path).handle(password: nil, newPassword: "correct horse")
                }
            }
        }
    }

    @Test("Each error maps to its outcome; other errors have none")
    func outcomes() {
        let errors: [(ErrorCode, LANPasswordOutcome?)] = [
            (.lanPasswordWrong, .wrong), (.lanPasswordChangeFailed, .changeFailed), (.relationInvalid, .forbidden),
            (.forbidden, .forbidden), (.peerTimeout, .timeout), (.messageTimeout, .timeout),
            (.lanPasswordUnsupported, .unsupported), (.deviceOffline, nil), (.tooManyRequests, nil),
        ]
        for (code, outcome) in errors { #expect(LANPasswordOutcome(IoTError(code)) == outcome, "\(code)") }
    }
}
