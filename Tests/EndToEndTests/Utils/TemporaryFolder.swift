import Foundation

/// A folder that is removed with this object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        // Short, because the broker's socket is in it and a socket's path is limited.
        path = "/tmp/iotv-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func path(_ name: String) -> String {
        path + "/" + name
    }

    func newFile(_ name: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path(name), contents: nil)
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path(name)))
    }
}
