import ArgumentParser
import GatewayAPI
import IoTCore

/// How a camera's source is asked, beside its URL: an option for each such key of the API.
struct CameraLogin: ParsableArguments {
    @Option(help: "The user name at the camera.")
    var username: String?

    @Option(
        help: ArgumentHelp(
            "A file with its password; - reads standard input, and asks on a terminal.", valueName: "file"),
        completion: .file())
    var passwordFile: String?

    @Option(help: "How RTSP carries the media.")
    var transport: RTSPTransport?

    /// All but the password.
    func give(to camera: inout CameraSettings) {
        camera.username = username
        camera.$rtspTransport.given = transport
    }

    func password() throws -> String? {
        try passwordFile.map { try SecretInput.read($0) }
    }
}

/// An option for each key of the API that is not about the source.
struct CameraOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How many may watch at once.", valueName: "n"))
    var viewers: Int?

    func give(to camera: inout CameraSettings) {
        camera.$viewers.given = viewers
    }
}
