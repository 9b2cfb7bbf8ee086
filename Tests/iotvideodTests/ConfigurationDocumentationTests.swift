import Foundation
import IoTCore
import Testing

@testable import iotvideod

@Suite struct ConfigurationDocumentationTests {
    /// `name: default` of each row in the tables of keys.
    private func documented() throws -> [String: String] {
        let text = try String(contentsOf: Repository.file("docs/configuration.md"), encoding: .utf8)
        let keys = try #require(text.range(of: "\n## Keys"))
        let end = try #require(text.range(of: "\n## Changing it"))
        var rows: [String: String] = [:]
        for line in text[keys.upperBound..<end.lowerBound].split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
            try #require(cells.count == 4, "\(line)")
            #expect(rows.updateValue(cells[1], forKey: cells[0]) == nil, "\(cells[0]) is listed twice")
            #expect(cells[3].count > 20, "\(cells[0]) has no reason")
        }
        return rows
    }

    @Test("docs/configuration.md lists exactly the keys of the code, with their defaults")
    func keysAgree() throws {
        var code = ["cameras": "none"]
        for key in ConfigurationKey.all { code[key.name] = key.defaultText }
        for key in CameraKey.all where key.isInFile { code["cameras[].\(key.name)"] = key.defaultText }
        #expect(try documented() == code)
    }

    @Test("iotvideod.yaml(5) lists every key of docs/configuration.md with its default")
    func manualPage() throws {
        let text = try String(contentsOf: Repository.file("man/iotvideod.yaml.5"), encoding: .utf8)
        let lines = text.replacing("\\-", with: "-").split(separator: "\n").map(String.init)
        var rows: [String: String] = [:]
        for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix(".B ") && next.hasPrefix("Default: ") {
            let value = next.dropFirst(9).split(separator: ". Unit:")[0]
            rows[String(line.dropFirst(3))] = String(value.hasSuffix(".") ? value.dropLast() : value)
        }
        let documented = try documented()
            .filter { $0.key != "cameras" }.mapValues { $0 == "see below" ? "in FILES" : $0 }
        rows["cameras"] = nil
        #expect(rows == documented)
    }

    @Test("The documented defaults of the keys equal those of the types")
    func defaultsAgree() throws {
        let defaults = DefaultPaths(environment: [:], isRoot: true)
        let plain = Configuration(defaults: defaults)
        for key in ConfigurationKey.all
        where ![
            "see below", "automatic", "found", "none", "the hub's owner", "the hub's own", "the box's own",
        ].contains(key.defaultText) && !key.defaultText.contains("unless") {
            let steps = key.name.split(separator: ".")
            let text =
                steps.joined(separator: ": {") + ": '" + key.defaultText + "'"
                + String(repeating: "}", count: steps.count - 1)
            // Numbers, Booleans, lists and mappings are not quoted.
            let bare = text.replacing(#/'(\d+|true|false|\d+s|\[\]|\{\})'/#) { $0.output.1 }
            #expect(try Configuration.parse(bare, file: "/c", defaults: defaults) == plain, "\(key.name)")
        }
        let camera = CameraSettings(name: "a", url: "/x")
        #expect(
            try Configuration.parse(
                "cameras: [{name: a, url: /x, viewers: 8}]", file: "/c",
                defaults: defaults
            ).cameras == [camera])
    }

    @Test("The example in docs/configuration.md and the installed file are valid")
    func examples() throws {
        let defaults = DefaultPaths(environment: [:], isRoot: true)
        let text = try String(contentsOf: Repository.file("docs/configuration.md"), encoding: .utf8)
        let example = try #require(text.firstMatch(of: #/```yaml\n([^`]*)```/#)).output.1
        #expect(try Configuration.parse(String(example), file: "/c", defaults: defaults).cameras.count == 2)
        let installed = try String(contentsOf: Repository.file("packaging/iotvideod.yaml"), encoding: .utf8)
        #expect(throws: Never.self) { try Configuration.parse(installed, file: "/c", defaults: defaults) }
        // The installed file is also valid with its examples enabled.
        let enabled = installed.replacing(#/\n# (media|cameras|hub|api|rtsp|  )/#) { "\n\($0.output.1)" }
        #expect(try Configuration.parse(enabled, file: "/c", defaults: defaults).cameras.count == 1)
    }
}
