import Foundation

/// A folder that goes with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        // Short, since the broker's socket lies in it.
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
