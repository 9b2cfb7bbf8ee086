import Foundation
import IoTCore
import Testing

@Suite("Private files and their directories")
struct PrivateFileTests {
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.path + "/private-\(UUID().uuidString)"
        try PrivateDirectory.make(directory)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory)
    }

    private func mode(of path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test(
        "Only the owner may read a secret; a group may read, but not write, a TLS key",
        arguments: [
            (0o600, true, true), (0o400, true, true), (0o640, false, true), (0o440, false, true),
            (0o660, false, false), (0o644, false, false), (0o604, false, false), (0o601, false, false),
            (0o610, false, false), (0o602, false, false),
        ] as [(mode: mode_t, isSecret: Bool, isKey: Bool)])
    func modes(mode: mode_t, isSecret: Bool, isKey: Bool) throws {
        try withDirectory { directory in
            let path = directory + "/secret"
            try PrivateFile.write("x", to: path)
            chmod(path, mode)
            #expect(FileSecrecy.owner.allows(path: path) == isSecret)
            for (secrecy, isAllowed) in [(FileSecrecy.owner, isSecret), (.ownerAndReadingGroup, isKey)] {
                let result = Result { () throws(IoTError) in
                    try PrivateFile.bytes(of: path, limit: 1, secrecy: secrecy)
                }
                switch result {
                case .success(let bytes): #expect(isAllowed && bytes == Array("x".utf8))
                case .failure(let error):
                    #expect(!isAllowed && error.code == .invalidConfiguration && error.remedy.contains("chmod 6"))
                }
            }
            #expect(try PrivateFile.bytes(of: path, limit: 1, secrecy: nil) == Array("x".utf8))
        }
    }

    @Test("Written text is read back, and only the owner may read the file")
    func write() throws {
        try withDirectory { directory in
            let path = directory + "/secret"
            try PrivateFile.write("one", to: path)
            try PrivateFile.write("two\n", to: path)
            #expect(try PrivateFile.text(of: path) == "two\n")
            #expect(mode(of: path) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["secret"])
        }
    }

    @Test(
        "A missing file is allowed; a file that is too large, a directory and a pipe without a writer are refused at once"
    )
    func notFiles() throws {
        try withDirectory { directory in
            #expect(try PrivateFile.text(of: directory + "/nothing") == nil)
            let path = directory + "/secret"
            try PrivateFile.write("1234", to: path)
            #expect(try PrivateFile.bytes(of: path, limit: 4)?.count == 4)
            let large = #expect(throws: IoTError.self) { try PrivateFile.bytes(of: path, limit: 3) }
            #expect(large?.code == .invalidConfiguration)
            #expect(mkfifo(directory + "/pipe", 0o600) == 0)
            for path in [directory, directory + "/pipe"] {
                let error = #expect(throws: IoTError.self) { try PrivateFile.text(of: path) }
                #expect(error?.code == .fileFailed)
            }
        }
    }

    @Test("Others lose access to an existing directory; a link to a directory is refused")
    func directories() throws {
        try withDirectory { directory in
            let path = directory + "/keys"
            #expect(mkdir(path, 0o700) == 0)
            chmod(path, 0o755)
            try PrivateDirectory.make(path)
            #expect(mode(of: path) == 0o700)
            #expect(symlink(path, directory + "/link") == 0)
            for other in ["/link", "/missing/keys"] {
                let error = #expect(throws: IoTError.self) { try PrivateDirectory.make(directory + other) }
                #expect(error?.code == .fileFailed)
            }
        }
    }

    @Test("Only one holder at a time has the lock of a directory, until it releases it")
    func lock() throws {
        try withDirectory { directory in
            let first = try DirectoryLock(directory, file: "lock", holder: "hub")
            _ = try DirectoryLock(directory, file: "other", holder: "hub")
            let error = #expect(throws: IoTError.self) { try DirectoryLock(directory, file: "lock", holder: "hub") }
            #expect(error?.code == .alreadyRunning)
            first.release()
            _ = try DirectoryLock(directory, file: "lock", holder: "hub")
        }
    }
}
