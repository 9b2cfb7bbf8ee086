import Foundation

/// A directory that is removed with its owner.
final class TemporaryDirectory: Sendable {
    let path = FileManager.default.temporaryDirectory.path + "/recording-" + UUID().uuidString.lowercased()

    init() {
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
