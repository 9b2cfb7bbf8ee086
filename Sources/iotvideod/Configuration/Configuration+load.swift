import Foundation
import IoTCore

extension Configuration {
    /// The greatest file that is read, in bytes.
    static let maximumFileSize = 1 << 20

    /// Reads a YAML file over `defaults`.
    ///
    /// - Throws: `.fileFailed` when it cannot be read; `.invalidConfiguration` with every problem, one a line, each
    ///   with file, line, key and reason.
    static func load(file: String, defaults: DefaultPaths) throws(IoTError) -> Configuration {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
            defer { try? handle.close() }
            data = try handle.read(upToCount: maximumFileSize + 1) ?? Data()
        } catch {
            throw IoTError(.fileFailed, "\(file) cannot be read: \(FileReason.describe(error))", underlying: error)
        }
        guard data.count <= maximumFileSize else {
            throw IoTError(.invalidConfiguration, "\(file): is larger than \(maximumFileSize >> 20) MiB")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw IoTError(.invalidConfiguration, "\(file): is not UTF-8")
        }
        return try parse(text, file: file, defaults: defaults)
    }

    /// - Parameter file: the name for messages, and what relative paths in the text are relative to.
    static func parse(_ text: String, file: String, defaults: DefaultPaths) throws(IoTError) -> Configuration {
        let directory = URL(fileURLWithPath: file).deletingLastPathComponent().path
        var reader = ConfigurationReader(
            context: ConfigurationKey.Context(file: file, directory: directory),
            configuration: Configuration(defaults: defaults))
        reader.read(text)
        guard reader.problems.isEmpty else {
            let problems = reader.problems.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
            throw IoTError(.invalidConfiguration, problems.map(\.description).joined(separator: "\n"))
        }
        return reader.configuration
    }

    /// Reads every secret once, so that a missing or open file is told at the start.
    ///
    /// - Throws: `.fileFailed` or `.invalidConfiguration`, naming the key.
    func checkSecrets() throws(IoTError) {
        var files: [(key: String, path: String)] = cameras.compactMap { camera in
            camera.passwordFile.map { ("camera '\(camera.name)', passwordFile", $0) }
        }
        if let file = link.tokenFile { files.append(("link.tokenFile", file)) }
        for (key, path) in files {
            do throws(IoTError) {
                _ = try SecretFile.read(path)
            } catch {
                throw IoTError(error.code, "\(key): \(error.message)")
            }
        }
    }
}
