import Foundation

/// Where the built programs and the samples are.
enum Product {
    /// The folder of the test program, in which the package manager puts the product's programs too.
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
