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

    /// Removes the files of a camera that has ended, and what was downloaded for it.
    static func remove(_ camera: String, _ configuration: Configuration) throws {
        var directories = [configuration.dataDirectory + "/cameras/" + camera]
        if let firmware = configuration.firmware.directory {
            directories.append(FirmwareSupply.directory(of: camera, in: firmware))
        }
        for directory in directories where FileManager.default.fileExists(atPath: directory) {
            try FileManager.default.removeItem(atPath: directory)
        }
    }

    /// The camera's signing key, which is created at its first start, with the keys that it has replaced.
    ///
    /// - Throws: `fileFailed`, `invalidConfiguration`.
    func key() throws(IoTError) -> DeviceKey {
        var key = try DeviceKey(file: keyFile)
        guard let text = try PrivateFile.text(of: successionFile) else { return key }
        guard let succession = KeySuccession(text.split(whereSeparator: \.isNewline).joined(separator: " ")) else {
            throw IoTError(
                .fileFailed, "\(successionFile) is damaged",
                remedy: "restore it from a backup, or remove it; gateways that know an earlier key then refuse the "
                    + "camera")
        }
        // After a power failure during a replacement, the file may already have a step from the present key.
        key.succession = succession.before(key.publicKey)
        return key
    }

    /// Replaces the signing key by a new one, which the old one signs.
    ///
    /// - Throws: `fileFailed`, `invalidConfiguration`; the key is then the old one.
    func replaceKey() throws(IoTError) -> DeviceKey {
        let old = try key()
        var new = DeviceKey()
        new.succession = try old.succession.appending(old, signing: new.publicKey)
        // In this order: a new key without its succession would be refused by everybody who knows the old one.
        try PrivateFile.write(new.succession.text + "\n", to: successionFile)
        try new.write(to: keyFile)
        return new
    }

    private var keyFile: String { directory + "/key.pem" }
    private var successionFile: String { directory + "/key-succession" }

    /// The path of the file with the LAN access password.
    var lanPassword: String { directory + "/lan-password" }

    /// The path of the file with what the hub said about grants for the local network.
    var lanTrust: String { directory + "/lan-trust.json" }
}
