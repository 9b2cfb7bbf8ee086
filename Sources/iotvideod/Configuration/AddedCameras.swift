import Foundation
import IoTCore
import IoTLink

/// The cameras that were added while the daemon ran: `cameras.json` in the data directory, of mode 0600, which only the
/// daemon writes. JSON holds every text that a URL may be; YAML does not.
struct AddedCameras: Sendable {
    let path: String
    /// Where release 0.1 kept them. It is read until the first change, which removes it.
    private let oldPath: String

    private struct Contents: Codable {
        var cameras: [CameraSettings]
    }

    init(dataDirectory: String) {
        path = dataDirectory + "/cameras.json"
        oldPath = dataDirectory + "/cameras.yaml"
    }

    /// - Throws: `.fileFailed` when it cannot be read, `.invalidConfiguration` with file and reason.
    func load() throws(IoTError) -> [CameraSettings] {
        // Whoever else may write it would choose what is played, and it may hold passwords.
        guard let bytes = try PrivateFile.bytes(of: path, limit: Configuration.maximumFileSize) else {
            return try loadOld()
        }
        do {
            let cameras = try JSONDecoder().decode(Contents.self, from: Data(bytes)).cameras
            for camera in cameras { _ = try CameraSource(camera.url, relativeTo: "/") }
            return cameras
        } catch {
            throw IoTError(
                .invalidConfiguration, "\(path): is not what iotvideod wrote: \(error)",
                remedy: "restore the file from a backup, or remove it and add its cameras again")
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

    /// Replaces the file as a whole; it lasts over a power cut when this returns.
    func save(_ cameras: [CameraSettings]) throws(IoTError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do {
            data = try encoder.encode(Contents(cameras: cameras))
        } catch {
            throw IoTError(.internalFailure, "the cameras cannot be written as JSON: \(error)")
        }
        try PrivateFile.write(String(decoding: data, as: UTF8.self) + "\n", to: path)
        try? FileManager.default.removeItem(atPath: oldPath)
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
