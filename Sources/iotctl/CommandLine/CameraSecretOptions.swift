import ArgumentParser
import IoTCore
import NetConfig

/// The secret on the camera's label, which authorizes a person to provision the camera.
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
            throw ValidationError("--user and --user-password-file require each other")
        }
        guard popFile == nil || user == nil else { throw ValidationError("give --pop-file or --user, not both") }
    }

    /// Without a secret, an empty proof of possession.
    func credential() throws -> ProvisioningCredential {
        if let user, let file = userPasswordFile {
            return .password(user: user, password: try SecretInput.read(file, what: "camera's password"))
        }
        return .possession(try popFile.map { try SecretInput.read($0, what: "proof of possession") } ?? "")
    }
}
