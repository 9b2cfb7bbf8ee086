/// A word that is not a command.
struct UnknownCommand: Error, Equatable {
    let word: String
    /// The program and the commands before the word.
    let path: [String]
    let known: [String]

    var message: String {
        let text = "unknown command '\(word)'"
        guard let suggestion = Spelling.nearest(to: word, in: known) else {
            return "\(text); there are \(known.joined(separator: ", "))"
        }
        return "\(text); did you mean '\(suggestion)'?"
    }

    /// The command line that prints the available commands.
    var help: String { path.joined(separator: " ") + " --help" }
}
