import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore

/// A camera's source on the command line.
struct CameraSourceOptions: ParsableArguments {
    @Argument(
        help: "rtsp[s]://…, v4l2:/dev/…, or a file, which is played in a loop; write ./a:b for a name with a colon.",
        completion: .file())
    var url: String

    @OptionGroup var login: CameraLogin

    func validate() throws {
        try Self.check(url)
    }

    /// Refuses a password in the URL, because every user of this machine can read a command line.
    static func check(_ url: String) throws {
        guard !CameraRequest.holdsPassword(url) else { throw ValidationError(CameraRequest.passwordInURL) }
    }

    func give(to camera: inout CameraSettings) throws {
        camera.url = Self.absolute(url)
        login.give(to: &camera)
        camera.password = try login.password()
    }

    /// Makes a path absolute, because the daemon may have another working directory.
    static func absolute(_ url: String) -> String {
        let isAddress = CameraRequest.scheme(of: url) != nil || url.isAbsolutePath
        return isAddress ? url : FileManager.default.currentDirectoryPath + "/" + url
    }
}
