import Foundation
import IoTCore
import IoTLink

/// The cameras that were added while the daemon ran: `cameras.json` in the data directory, mode 0600. Only the daemon
/// writes this file. It is JSON because YAML does not allow some characters of URLs.
struct AddedCameras: Sendable {
    let path: String
    /// The file of release 0.1. It is read until the first change, which removes it.
    private let oldPath: String

    private struct Contents: Codable {
        var cameras: [CameraSettings]
    }

    init(dataDirectory: String) {
        path = dataDirectory + "/cameras.json"
        oldPath = dataDirectory + "/cameras.yaml"
    }

    /// - Throws: `.fileFailed` if the file cannot be read, `.invalidConfiguration` with file and reason.
    func load() throws(IoTError) -> [CameraSettings] {
        // Only the owner may have access: another writer could choose what is played, and the file may contain
        // passwords.
        guard let bytes = try PrivateFile.bytes(of: path, limit: Configuration.maximumFileSize) else {
            return try loadOld()
        }
        do {
            let cameras = try JSONDecoder().decode(Contents.self, from: Data(bytes)).cameras
            for camera in cameras { _ = try CameraSource(camera.url, relativeTo: "/") }
            return cameras
        } catch {
            throw IoTError(
                .invalidConfiguration, "\(path) cannot be read: \(error)",
                remedy: "restore the file from a backup, or remove it and add the cameras again")
        }
    }

    private func loadOld() throws(IoTError) -> [CameraSettings] {
        guard let bytes = try PrivateFile.bytes(of: oldPath, limit: Configuration.maximumFileSize) else {
            return []
        }
        let directory = (oldPath as NSString).deletingLastPathComponent
        return try Configuration.parse(
            String(decoding: bytes, as: UTF8.self),
            context: ConfigurationKey.Context(file: oldPath, directory: directory),
            over: Configuration(defaults: DefaultPaths(environment: [:], isRoot: true)), keys: []
        ).cameras
    }

    /// Replaces the whole file. When this returns, the file survives a power failure.
    func save(_ cameras: [CameraSettings]) throws(IoTError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do {
            data = try encoder.encode(Contents(cameras: cameras))
        } catch {
            throw IoTError(.internalFailure, "cannot write the cameras as JSON: \(error)")
        }
        try PrivateFile.write(String(decoding: data, as: UTF8.self) + "\n", to: path)
        try? FileManager.default.removeItem(atPath: oldPath)
    }
}

extension Configuration {
    /// The configuration's cameras, followed by the added ones.
    ///
    /// - Throws: `.invalidConfiguration` for a name that is in both.
    func merging(_ added: AddedCameras) throws(IoTError) -> Configuration {
        var merged = self
        for camera in try added.load() {
            guard !cameras.contains(where: { $0.name == camera.name }) else {
                throw IoTError(
                    .invalidConfiguration,
                    "cameras: '\(camera.name)' is also in \(added.path), where `iotctl camera add` put it",
                    remedy: "remove it from one of them")
            }
            merged.cameras.append(camera)
        }
        return merged
    }
}
