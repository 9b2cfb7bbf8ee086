import Foundation
import IoTCore
import IoTLink

/// The cameras that were added while the daemon ran: `cameras.yaml` in the data directory, of mode 0600. The daemon
/// writes it; it has the form of the configuration's `cameras`.
struct AddedCameras: Sendable {
    let path: String

    init(dataDirectory: String) {
        path = dataDirectory + "/cameras.yaml"
    }

    /// - Throws: `.fileFailed` when it cannot be read, `.invalidConfiguration` with file, line, key and reason.
    func load() throws(IoTError) -> [CameraConfiguration] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        // Whoever else may write it would choose what is played, and it may hold passwords.
        try FileSecrecy.owner.check(path: path)
        let text = try Configuration.text(of: path)
        let directory = (path as NSString).deletingLastPathComponent
        return try Configuration.parse(
            text, context: ConfigurationKey.Context(file: path, directory: directory),
            over: Configuration(defaults: DefaultPaths(environment: [:], isRoot: true)), keys: []
        ).cameras
    }

    /// Replaces the file as a whole; it lasts over a power cut when this returns.
    func save(_ cameras: [CameraConfiguration]) throws(IoTError) {
        var text = "# Cameras that were added with iotctl or the API; iotvideod writes this file.\ncameras:"
        text += cameras.isEmpty ? " []\n" : "\n"
        for camera in cameras {
            text += "  - name: \(Self.quote(camera.name))\n    url: \(Self.quote(camera.source.url))\n"
            text += "    viewers: \(camera.viewers)\n"
            if camera.source.kind == .rtsp { text += "    rtspTransport: \(camera.rtspTransport.rawValue)\n" }
            if let username = camera.username { text += "    username: \(Self.quote(username))\n" }
            if let file = camera.passwordFile { text += "    passwordFile: \(Self.quote(file))\n" }
        }
        try PrivateFile.write(text, to: path)
    }

    /// YAML 1.2 §7.3.2: in single quotes nothing but the quote itself is special. Sources hold no line ends.
    private static func quote(_ text: String) -> String {
        "'" + text.replacing("'", with: "''") + "'"
    }
}

extension Configuration {
    /// The configuration with the added cameras behind its own.
    ///
    /// - Throws: `.invalidConfiguration` for a name that stands in both.
    func merging(_ added: AddedCameras) throws(IoTError) -> Configuration {
        var merged = self
        for camera in try added.load() {
            guard !cameras.contains(where: { $0.name == camera.name }) else {
                throw IoTError(
                    .invalidConfiguration,
                    "cameras: '\(camera.name)' stands in \(added.path), too, where `iotctl camera add` put it",
                    remedy: "take it out of one of them")
            }
            merged.cameras.append(camera)
        }
        return merged
    }
}
