import Foundation
import IoTCore
import Testing

/// Each number of the catalogue is reported somewhere in the sources, or the catalogue says why not.
@Suite struct ErrorRaiserTests {
    /// The sources without comments, except the catalogue itself.
    private static let sources: String = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        var text = ""
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift", !file.path.contains("/IoTCore/Errors/"),
                let lines = try? String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            else { continue }
            for line in lines where !line.drop(while: { $0 == " " }).hasPrefix("//") { text += line + "\n" }
        }
        return text
    }()

    /// The names in `IoTError(.name`: other uses, such as a comparison, report nothing.
    private static let raised: Set<String> = Set(
        sources.matches(of: #/IoTError\(\s*\.([A-Za-z]+)\b/#).map { String($0.output.1) })

    @Test(
        "Each number is reported in the sources, or the catalogue says why not",
        arguments: ErrorCatalogue.entries.map(\.code))
    func raiser(code: ErrorCode) throws {
        let entry = try #require(ErrorCatalogue.entry(code))
        if entry.whyUnused == nil {
            #expect(
                Self.raised.contains(entry.name),
                "nothing reports \(code.rawValue) \(entry.name): report it, or write `whyUnused` in the catalogue")
        } else {
            #expect(
                !Self.raised.contains(entry.name),
                "\(code.rawValue) \(entry.name) is reported: remove `whyUnused` from the catalogue")
        }
    }
}
