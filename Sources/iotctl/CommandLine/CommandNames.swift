import ArgumentParser

/// The names of subcommands.
enum CommandNames {
    /// If the configuration has no name, the parser derives it from the type's name.
    static func name(_ command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? String(describing: command).lowercased()
    }

    /// - Parameter word: a name or an alias.
    static func command(_ word: String, of parent: any ParsableCommand.Type) -> (any ParsableCommand.Type)? {
        parent.configuration.subcommands.first {
            name($0) == word || $0.configuration.aliases.contains(word)
        }
    }

    /// Names without aliases.
    static func all(of parent: any ParsableCommand.Type) -> [String] {
        parent.configuration.subcommands.map(name)
    }
}

/// A group with a usual command, whose name may be left out: the next word is then its first argument.
/// Unlike the parser's default, the group alone prints its help.
protocol UsualSubcommand: ParsableCommand {
    static var usual: any ParsableCommand.Type { get }
}
