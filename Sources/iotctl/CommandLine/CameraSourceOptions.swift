import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore

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

    func give(to camera: inout CameraSettings) throws {
        camera.url = Self.absolute(url)
        login.give(to: &camera)
        camera.password = try login.password()
    }

    /// The daemon may have another working directory.
    static func absolute(_ url: String) -> String {
        let isAddress = CameraRequest.scheme(of: url) != nil || url.hasPrefix("/")
        return isAddress ? url : FileManager.default.currentDirectoryPath + "/" + url
    }
}
