import IoTCore
import IoTLink

/// What a camera of this daemon keeps for itself, in `cameras/NAME/` of the data directory. The camera's name is the
/// place, because a camera has none of its devices' ids before it has a hub.
struct CameraFiles: Sendable {
    private let directory: String

    /// Makes the directory.
    ///
    /// - Throws: `fileFailed`.
    init(dataDirectory: String, camera: String) throws(IoTError) {
        directory = dataDirectory + "/cameras/" + camera
        try PrivateDirectory.make(dataDirectory + "/cameras")
        try PrivateDirectory.make(directory)
    }

    /// The camera's signing key, made at its first start.
    ///
    /// - Throws: `fileFailed`, `invalidConfiguration`.
    func key() throws(IoTError) -> DeviceKey {
        try DeviceKey(file: directory + "/key.pem")
    }

    /// The place of the LAN access password.
    var lanPassword: String { directory + "/lan-password" }
}
