import Foundation
import Hummingbird
import IoTCore
import Testing

@testable import iotvideod

@Suite struct ErrorDocumentationTests {
    /// The table that `docs/api.md` must have as its last section.
    private var table: String {
        let head = "| code | name | status | message | remedy |\n| --- | --- | --- | --- | --- |\n"
        return ErrorCatalogue.entries.reduce(into: head) { table, entry in
            let status = HTTPResponse.Status(entry.code).code
            table += "| \(entry.code.rawValue) | `\(entry.name)` | \(status) | \(entry.message) | \(entry.remedy) |\n"
        }
    }

    @Test("docs/api.md lists every error of the catalogue; WRITE_DOCUMENTS=1 rewrites the list")
    func errors() throws {
        let file = Repository.file("docs/api.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let heading = try #require(text.range(of: "\n## Errors by number\n"))
        let start = text.range(of: "| code |", range: heading.upperBound..<text.endIndex)?.lowerBound ?? text.endIndex
        if ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] == "1" {
            try (text[..<start] + table).write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(
                text[start...] == table,
                "WRITE_DOCUMENTS=1 swift test --filter ErrorDocumentationTests writes the table of the catalogue")
        }
    }
}
