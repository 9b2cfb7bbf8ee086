import Foundation
import Hummingbird
import IoTCore
import Testing

@testable import iotvideod

@Suite struct ErrorDocumentationTests {
    /// The whole of `docs/errors.md`.
    private var document: String {
        var text = "# Errors by number\n\n" + Self.introduction + "\n"
        text += "## Who defines which numbers\n\n| numbers | name | what for |\n| --- | --- | --- |\n"
        for domain in ErrorDomain.all {
            let numbers = "\(domain.range.lowerBound)–\(domain.range.upperBound)"
            text += "| \(numbers) | `\(domain.name)` | \(domain.description) |\n"
        }
        let used = ErrorCatalogue.entries.filter { $0.whyUnused == nil }
        for domain in ErrorDomain.all {
            let entries = used.filter { $0.code.domain == domain }
            guard !entries.isEmpty else { continue }
            let (first, last) = (domain.range.lowerBound, domain.range.upperBound)
            text += "\n## \(first)–\(last): \(domain.description)\n\n"
            text += "| code | name | status | message | remedy |\n| --- | --- | --- | --- | --- |\n"
            for entry in entries {
                let status = HTTPResponse.Status(entry.code).code
                text +=
                    "| \(entry.code.rawValue) | `\(entry.name)` | \(status) | \(entry.message) | \(entry.remedy) |\n"
            }
        }
        text += "\n## Not reported by this product\n\n"
        text += "| code | name | message | why |\n| --- | --- | --- | --- |\n"
        for entry in ErrorCatalogue.entries {
            guard let reason = entry.whyUnused else { continue }
            text += "| \(entry.code.rawValue) | `\(entry.name)` | \(entry.message) | \(reason) |\n"
        }
        return text
    }

    private static let introduction = """
        Every failure that a user can meet has a number, a name and a remedy, the same in the HTTP API, in `iotctl` and in
        the libraries. `iotctl error NUMBER` prints one, also without a daemon; `iotctl error NAME` finds it by its name.
        The message of an actual error describes the specific case; below is the default text. Decide by the number.

        The numbers below 25000 are those of the IoT video SDK, a vendor's SDK whose thing model and error numbers
        iotvideod follows. *Status* is the status of the HTTP answer. The errors of the last section are not reported by
        this product; devices and hubs of other makers may report them. Each device defines the numbers 20151–20199 for
        itself.

        """

    @Test("docs/errors.md is the catalogue; WRITE_DOCUMENTS=1 rewrites it")
    func errors() throws {
        let file = Repository.file("docs/errors.md")
        if ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] == "1" {
            try document.write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(
                try String(contentsOf: file, encoding: .utf8) == document,
                "WRITE_DOCUMENTS=1 swift test --filter ErrorDocumentationTests writes the document")
        }
    }
}
