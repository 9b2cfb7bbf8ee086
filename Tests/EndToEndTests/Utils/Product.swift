import Foundation

/// The paths of the built programs and the samples.
enum Product {
    /// The folder of the test program, which also contains the product's programs.
    static let folder: URL = {
        let test = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return test.deletingLastPathComponent()
    }()

    static func program(_ name: String) -> String {
        folder.appendingPathComponent(name).path
    }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func sample(_ name: String) -> String {
        root.appendingPathComponent("Samples/\(name)").path
    }
}
