import ArgumentParser
import IoTCore

/// Asks before an action that cannot be undone.
struct Confirmation: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask. Required if standard input is not a terminal.")
    var yes = false

    /// - Parameter action: the action, for example `remove the camera 'yard'`.
    /// - Throws: `.invalidParameter` if the user cannot be asked or does not confirm.
    func confirm(_ action: String) throws {
        if yes { return }
        guard Prompt.isPossible else {
            throw IoTError(
                .invalidParameter,
                "standard input is not a terminal, so iotctl cannot ask whether to \(action)",
                remedy: "add --yes to do it without asking")
        }
        guard try Prompt.confirm("\(action.prefix(1).uppercased())\(action.dropFirst())?") else {
            throw IoTError(.invalidParameter, "the answer was not y, so nothing was done", remedy: "answer y to do it")
        }
    }
}
