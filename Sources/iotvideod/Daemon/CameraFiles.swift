import Foundation
import IoTCore
import IoTLink

/// The files of a camera of this daemon, in `cameras/NAME/` of the data directory. The directory has the camera's name,
/// because a camera has no device id before it has a hub.
struct CameraFiles: Sendable {
    private let directory: String

    /// Creates the directory.
    ///
    /// - Throws: `fileFailed`.
    init(dataDirectory: String, camera: String) throws(IoTError) {
        directory = dataDirectory + "/cameras/" + camera
        try PrivateDirectory.make(dataDirectory + "/cameras")
        try PrivateDirectory.make(directory)
    }

    /// Removes the files of a camera that has ended.
    static func remove(dataDirectory: String, camera: String) throws {
        let directory = dataDirectory + "/cameras/" + camera
        guard FileManager.default.fileExists(atPath: directory) else { return }
        try FileManager.default.removeItem(atPath: directory)
    }

    /// The camera's signing key, which is created at its first start.
    ///
    /// - Throws: `fileFailed`, `invalidConfiguration`.
    func key() throws(IoTError) -> DeviceKey {
        try DeviceKey(file: directory + "/key.pem")
    }

    /// The path of the file with the LAN access password.
    var lanPassword: String { directory + "/lan-password" }
}
