import ArgumentParser
import Testing

@testable import iotctl

@Suite struct HelpTests {
    /// The parser divides a line that is longer than the terminal, and does not join it with the next one.
    @Test("Help fits a terminal of 80 columns: a longer line is a paragraph of its own")
    func width() {
        func check(_ command: any ParsableCommand.Type) {
            let configuration = command.configuration
            let lines = configuration.discussion.split(separator: "\n", omittingEmptySubsequences: false)
            for (line, next) in zip(lines, lines.dropFirst() + [""]) where line.count > 80 {
                #expect(next.isEmpty && !line.hasPrefix(" "), "\(command): \(line)")
            }
            for subcommand in configuration.subcommands { check(subcommand) }
        }
        check(IotctlCommand.self)
    }
}
