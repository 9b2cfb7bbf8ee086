import ArgumentParser

/// How the commands below another one are called.
enum CommandNames {
    /// The parser makes a name of the type's where the configuration has none.
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
