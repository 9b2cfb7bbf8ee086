import ArgumentParser
import IoTCore

/// Asks before something is done that cannot be taken back.
struct Confirmation: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask. Needed where standard input is not a terminal.")
    var yes = false

    /// - Parameter action: what is about to happen, such as `remove the camera 'yard'`.
    /// - Throws: `.invalidParameter` where nobody can be asked, or when the answer is no.
    func confirm(_ action: String) throws {
        if yes { return }
        guard Prompt.isPossible else {
            throw IoTError(
                .invalidParameter,
                "standard input is not a terminal, so nobody can be asked whether to \(action)",
                remedy: "add --yes to do it without asking")
        }
        guard try Prompt.confirm("\(action.prefix(1).uppercased())\(action.dropFirst())?") else {
            throw IoTError(.invalidParameter, "you did not say yes, so nothing was done", remedy: "answer y to do it")
        }
    }
}
