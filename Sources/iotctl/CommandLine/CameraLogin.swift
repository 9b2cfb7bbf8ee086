import ArgumentParser
import Foundation
import GatewayAPI

/// How a camera is asked, beside its URL.
struct CameraLogin: ParsableArguments {
    @Option(help: "The user name at the camera.")
    var username: String?

    @Option(
        help: ArgumentHelp(
            "A file with its password; - reads standard input, and asks on a terminal.", valueName: "file"),
        completion: .file())
    var passwordFile: String?

    @Option(help: "How RTSP carries the media.")
    var transport: CameraRequest.Transport?

    var isEmpty: Bool { username == nil && passwordFile == nil && transport == nil }

    func password() throws -> String? {
        try passwordFile.map { try SecretInput.read($0) }
    }
}

/// A camera's source on the command line.
struct CameraSourceOptions: ParsableArguments {
    @Argument(
        help: "rtsp://… or a file, which is played in a loop; ./a:b for one with a colon in its name.",
        completion: .file())
    var url: String

    @OptionGroup var login: CameraLogin

    func validate() throws {
        try Self.check(url)
    }

    /// Every user of this machine can read a command line.
    static func check(_ url: String) throws {
        guard !CameraRequest.holdsPassword(url) else { throw ValidationError(CameraRequest.passwordInURL) }
    }

    var absoluteURL: String { Self.absolute(url) }

    /// The daemon may have another working directory.
    static func absolute(_ url: String) -> String {
        let isAddress = CameraRequest.scheme(of: url) != nil || url.hasPrefix("/")
        return isAddress ? url : FileManager.default.currentDirectoryPath + "/" + url
    }
}
