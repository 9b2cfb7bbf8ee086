import ArgumentParser

/// The arguments of the program, rearranged into the order that the parser accepts. No I/O.
struct CommandLineArguments {
    /// The options of `GlobalOptions` that take a value.
    private static let valueOptions: Set<String> = ["--socket", "--url", "--token-file", "--ca"]
    /// The parser's internal options, which have no command.
    private static let internalWords: Set<String> = ["---completion", "--generate-completion-script"]

    let words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    /// True if results and errors are to be printed as JSON.
    var wantsJSON: Bool { words.prefix { $0 != "--" }.contains("--json") }

    /// The same command line with global options moved after the command, `-v` and a command that was left out spelled
    /// out, and negative numbers protected.
    ///
    /// - Throws: `UnknownCommand`.
    func arranged(root: any ParsableCommand.Type = IotctlCommand.self) throws -> [String] {
        if let first = words.first, Self.internalWords.contains(first) { return words }
        var rest = words[...]
        var command = root
        var path = [root.configuration.commandName ?? ""]
        var (kept, moved): ([String], [String]) = ([], [])
        while !command.configuration.subcommands.isEmpty, let word = rest.first, word != "--" {
            rest.removeFirst()
            if word.hasPrefix("-") {
                let name = String(word.prefix { $0 != "=" })
                if name == "--json" || Self.valueOptions.contains(name) {
                    moved.append(word)
                    if name != "--json", name == word, let value = rest.popFirst() { moved.append(value) }
                } else {
                    kept.append(word == "-v" && path.count == 1 ? "--version" : word)
                }
            } else if word == "help", path.count == 1 {
                return kept + [word] + rest
            } else if let next = CommandNames.command(word, of: command) {
                kept.append(word)
                path.append(CommandNames.name(next))
                command = next
            } else if let usual = (command as? any UsualSubcommand.Type)?.usual {
                // `iotctl firmware front` is `iotctl firmware show front`.
                kept.append(CommandNames.name(usual))
                command = usual
                rest = [word] + rest
            } else {
                throw UnknownCommand(word: word, path: path, known: CommandNames.all(of: command))
            }
        }
        // A command group prints its help, whatever the options are.
        if command.configuration.subcommands.isEmpty { kept += moved }
        return kept + JSONArgument.protectNegativeNumbers(Array(rest))
    }
}
