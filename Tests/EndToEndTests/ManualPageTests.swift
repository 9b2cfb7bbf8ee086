import Foundation
import Testing

/// The manual pages match the programs.
@Suite struct ManualPageTests {
    private static let pages = ["iotvideod.8", "iotvideod.yaml.5", "iotctl.1"]

    private static func page(_ name: String) -> String {
        Product.root.appendingPathComponent("man/\(name)").path
    }

    @Test("iotctl(1) is the generator's output from the help of iotctl")
    func iotctl() async throws {
        let script = Product.root.appendingPathComponent("man/iotctl.py").path
        let made = try await Program.named("python3", [script, Product.program("iotctl")]).run()
        try #require(made.status == 0, "\(made.errors)")
        let kept = try String(contentsOfFile: Self.page("iotctl.1"), encoding: .utf8)
        #expect(made.text == kept, "run: man/iotctl.py .build/debug/iotctl > man/iotctl.1")
    }

    @Test("iotvideod(8) has every option of iotvideod, and no other")
    func iotvideod() async throws {
        let help = try await Program(path: Product.program("iotvideod"), arguments: ["--help"]).run()
        let text = try String(contentsOfFile: Self.page("iotvideod.8"), encoding: .utf8).replacing("\\-", with: "-")
        let options = try #require(text.range(of: ".SH OPTIONS"))
        let end = try #require(text.range(of: ".SH SIGNALS"))
        let listed = try #require(help.text.range(of: "OPTIONS:"))
        let wanted = names(in: String(help.text[listed.upperBound...]))
        // Only the lines with an option's name, not its description.
        let tags = text[options.upperBound..<end.lowerBound].split(separator: "\n").filter {
            $0.contains(#/^\.B[IR]? -/#)
        }
        #expect(names(in: tags.joined(separator: "\n")) == wanted)
    }

    private func names(in text: String) -> Set<String> {
        Set(text.matches(of: #/--[a-z][a-z-]*/#).map { String($0.output) })
    }

    @Test("The pages are well formed", arguments: Self.pages)
    func form(name: String) async throws {
        let outcome = try await Program(
            path: "/usr/bin/env", arguments: ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", Self.page(name)],
            environment: ["LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"]
        ).run()
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(outcome.text.count > 1000)
    }
}
