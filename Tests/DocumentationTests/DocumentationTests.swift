import Foundation
import Testing

/// The pages of the libraries' documentation (DocC). Their examples are compiled with this target, which has only the
/// access of another package.
@Suite struct DocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The lines between two others.
    private static func lines(of text: String, from begin: String, to end: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let first = lines.firstIndex(where: { $0.trimmingCharacters(in: .whitespaces) == begin }),
            let last = lines[first...].firstIndex(where: { $0.trimmingCharacters(in: .whitespaces) == end })
        else { return [] }
        return Array(lines[(first + 1)..<last])
    }

    @Test(
        "The example of each page is the one that is compiled",
        arguments: ["MediaPlayer", "MediaChannel", "ThingModel", "IoTLink", "PeerTransport"])
    func examples(library: String) throws {
        let page = Self.lines(
            of: try Self.text("Sources/\(library)/\(library).docc/\(library).md"), from: "```swift", to: "```")
        let source = try Self.text("Tests/DocumentationTests/Snippets/\(library)Snippet.swift")
        let compiled = Self.lines(of: source, from: "// snippet", to: "// end").map { line in
            line.hasPrefix("    ") ? String(line.dropFirst(4)) : line
        }
        #expect(!page.isEmpty && page == compiled)
    }

    @Test(
        "Each page names only what its library declares",
        arguments: ["MediaPlayer", "MediaChannel", "ThingModel", "IoTLink", "PeerTransport"])
    func names(library: String) throws {
        let page = try Self.text("Sources/\(library)/\(library).docc/\(library).md")
        let folder = Self.root.appendingPathComponent("Sources/\(library)")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var source = ""
        while let file = files?.nextObject() as? URL {
            if file.pathExtension == "swift" { source += try String(contentsOf: file, encoding: .utf8) }
        }
        for name in page.matches(of: /- ``(\w+)``/).map({ String($0.output.1) }) {
            let pattern = try Regex("public (final )?(struct|class|enum|protocol|actor) \(name)\\b")
            #expect(source.contains(pattern), "\(library) declares no public \(name)")
        }
    }
}
