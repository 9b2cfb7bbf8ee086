import Foundation
import IoTCore

/// Directories that only their owner may enter.
enum PrivateDirectory {
    /// Makes the directory with mode 0700 when it is missing, and those above it.
    static func make(_ path: String) throws(IoTError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw IoTError(
                .fileFailed, "the directory \(path) cannot be made: \(FileReason.describe(error))", underlying: error)
        }
    }
}
