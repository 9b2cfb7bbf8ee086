import Foundation

/// Files of this project, located relative to the tests' sources.
enum Repository {
    static func file(_ path: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(path)
    }
}
