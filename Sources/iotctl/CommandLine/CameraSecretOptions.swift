import ArgumentParser
import IoTCore
import NetConfig

/// By what a person shows a camera that they have its label.
struct CameraSecretOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("A file with the proof of possession (security 1).", valueName: "file"),
        completion: .file())
    var popFile: String?

    @Option(help: "The user of security 2.")
    var user: String?

    @Option(
        help: ArgumentHelp("A file with that user's password.", valueName: "file"), completion: .file())
    var userPasswordFile: String?

    var isEmpty: Bool { popFile == nil && user == nil }

    func validate() throws {
        guard (user == nil) == (userPasswordFile == nil) else {
            throw ValidationError("--user and --user-password-file go together")
        }
        guard popFile == nil || user == nil else { throw ValidationError("give --pop-file or --user, not both") }
    }

    /// An empty proof of possession where nothing was given.
    func credential() throws -> ProvisioningCredential {
        if let user, let file = userPasswordFile {
            return .password(user: user, password: try SecretInput.read(file, what: "camera's password"))
        }
        return .possession(try popFile.map { try SecretInput.read($0, what: "proof of possession") } ?? "")
    }
}
