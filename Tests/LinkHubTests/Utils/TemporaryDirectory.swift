import Foundation

/// A directory that is removed with its owner.
final class TemporaryDirectory: Sendable {
    let path: String

    init(nameLength: Int = 12) {
        let unique = UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
        let name = unique.padding(toLength: nameLength, withPad: unique, startingAt: 0)
        path = FileManager.default.temporaryDirectory.path + "/hub-" + name
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
