import Foundation
import IoTCore

extension PrivateDirectory {
    /// Makes the daemon's own directory. A mistyped path must not grow a tree: what is above it is made for the
    /// default only, which nobody typed.
    static func makeRoot(_ path: String, defaults: DefaultPaths = .current) throws(IoTError) {
        if let obstacle = obstacle(toRoot: path, defaults: defaults) {
            throw IoTError(.fileFailed, "dataDirectory: \(obstacle)")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw IoTError(
                .fileFailed, "the directory \(path) cannot be made: \(FileReason.describe(error))", underlying: error)
        }
    }

    /// Why this user cannot keep a daemon's state there; `nil` when it can.
    static func obstacle(toRoot path: String, defaults: DefaultPaths = .current) -> String? {
        if FileManager.default.fileExists(atPath: path) { return obstacle(in: path) }
        var parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if path == defaults.dataDirectory {
            while !FileManager.default.fileExists(atPath: parent) {
                parent = URL(fileURLWithPath: parent).deletingLastPathComponent().path
            }
        }
        guard FileManager.default.fileExists(atPath: parent) else {
            return "there is no directory \(parent), in which to make \(path)"
        }
        return obstacle(in: parent)
    }

    /// Why this user cannot make files in what stands at `path`.
    static func obstacle(in path: String) -> String? {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
            return "\(path) is no directory"
        }
        return access(path, W_OK | X_OK) == 0 ? nil : "this user may not write to \(path)"
    }
}
