import Foundation
import IoTCore

extension PrivateDirectory {
    /// Creates the daemon's data directory. Parent directories are created only for the default path: a mistyped path
    /// must not create a tree.
    static func makeRoot(_ path: String, defaults: DefaultPaths = .current) throws(IoTError) {
        if let obstacle = obstacle(toRoot: path, defaults: defaults) {
            throw IoTError(.fileFailed, "dataDirectory: \(obstacle)")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw IoTError(
                .fileFailed, "cannot create the directory \(path): \(FileReason.describe(error))", underlying: error)
        }
    }

    /// Why this user cannot keep the daemon's state at `path`; `nil` if it can.
    static func obstacle(toRoot path: String, defaults: DefaultPaths = .current) -> String? {
        if FileManager.default.fileExists(atPath: path) { return obstacle(in: path) }
        var parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if path == defaults.dataDirectory {
            while !FileManager.default.fileExists(atPath: parent) {
                parent = URL(fileURLWithPath: parent).deletingLastPathComponent().path
            }
        }
        guard FileManager.default.fileExists(atPath: parent) else {
            return "the directory \(parent) does not exist, so \(path) cannot be created in it"
        }
        return obstacle(in: parent)
    }

    /// Why this user cannot create files in the directory `path`; `nil` if it can.
    static func obstacle(in path: String) -> String? {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
            return "\(path) is not a directory"
        }
        return access(path, W_OK | X_OK) == 0 ? nil : "this user may not write to \(path)"
    }
}
