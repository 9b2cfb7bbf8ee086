/// A word that no command has.
struct UnknownCommand: Error, Equatable {
    let word: String
    /// The commands before it, with the program first.
    let path: [String]
    let known: [String]

    var message: String {
        let text = "unknown command '\(word)'"
        guard let suggestion = Spelling.nearest(to: word, in: known) else {
            return "\(text); there are \(known.joined(separator: ", "))"
        }
        return "\(text); did you mean '\(suggestion)'?"
    }

    /// What prints the commands that there are.
    var help: String { path.joined(separator: " ") + " --help" }
}
