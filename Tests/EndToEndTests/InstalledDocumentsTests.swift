import Foundation
import Testing

/// The documents that messages, the configuration and the manual pages name are installed.
@Suite struct InstalledDocumentsTests {
    private static let root = Product.root.path

    /// The names of the installed documents.
    private static func installed(_ folder: TemporaryFolder? = nil) async throws -> Set<String> {
        let folder = try folder ?? TemporaryFolder()
        let made = try await Program.named(
            "make", ["-C", root, "install-documents", "DESTDIR=\(folder.path)", "PREFIX=/usr"]
        ).run()
        try #require(made.status == 0, "\(made.errors)")
        let documents = folder.path("usr/share/doc/iotvideod")
        return Set(try FileManager.default.contentsOfDirectory(atPath: documents))
    }

    private let folders = ["Sources", "packaging", "man"].map { "\(Self.root)/\($0)" }

    @Test("Every document that a program's message, a packaged file or a manual page names is installed")
    func named() async throws {
        let installed = try await Self.installed()
        let found = try await Program.named(
            "grep", ["-rnIE", #"\b[A-Za-z_-]+\.md\b|\bopenapi\.yaml\b"#] + folders
        ).run()
        // Comments of the sources may name documents that are not installed.
        let lines = found.text.split(separator: "\n").filter { !$0.contains(#/^[^:]+\.swift:\d+: *\/\//#) }
        #expect(lines.count > 2, "\(found.errors)")
        for line in lines {
            for match in line.matches(of: #/\b([A-Za-z_-]+\.md|openapi\.yaml)\b/#) {
                #expect(installed.contains(String(match.output.1)), "\(line)")
            }
        }
    }

    @Test("Every document that an installed document links to is installed")
    func links() async throws {
        let folder = try TemporaryFolder()
        let installed = try await Self.installed(folder)
        #expect(installed.isSuperset(of: ["configuration.md", "openapi.yaml"]))
        for name in installed where name.hasSuffix(".md") {
            let text = try String(contentsOfFile: folder.path("usr/share/doc/iotvideod/\(name)"), encoding: .utf8)
            for match in text.matches(of: #/\]\(([^)#:]+)(#[^)]*)?\)/#) {
                #expect(installed.contains(String(match.output.1)), "\(name) links to \(match.output.1)")
            }
        }
    }
}
