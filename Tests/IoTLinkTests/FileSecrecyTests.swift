import Foundation
import IoTCore
import Testing

@testable import IoTLink

@Suite("Who may read a secret file")
struct FileSecrecyTests {
    @Test(
        "A secret is its owner's alone; a TLS key may also be read, not written, by a group",
        arguments: [
            (0o600, true, true), (0o400, true, true), (0o640, false, true), (0o440, false, true),
            (0o660, false, false), (0o644, false, false), (0o604, false, false), (0o601, false, false),
            (0o610, false, false), (0o602, false, false),
        ] as [(mode: mode_t, isSecret: Bool, isKey: Bool)])
    func modes(mode: mode_t, isSecret: Bool, isKey: Bool) throws {
        let path = FileManager.default.temporaryDirectory.path + "/secrecy-\(UUID().uuidString)"
        try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        chmod(path, mode)
        #expect(FileSecrecy.owner.allows(path: path) == isSecret)
        #expect(FileSecrecy.ownerAndReadingGroup.allows(path: path) == isKey)
        let refusal = Result { () throws(IoTError) in try FileSecrecy.ownerAndReadingGroup.check(path: path) }
        if case .failure(let error) = refusal {
            #expect(!isKey && error.code == .invalidConfiguration)
        } else {
            #expect(isKey)
        }
    }
}
