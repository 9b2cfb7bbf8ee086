import Foundation
import IoTCore
import IoTLink

extension Configuration {
    /// The greatest file that is read, in bytes.
    static let maximumFileSize = 1 << 20

    /// What goes before the file: the command line.
    typealias Override = (inout Configuration) throws(IoTError) -> Void

    /// Reads a YAML file over `defaults`, and the command line over that.
    ///
    /// - Throws: `.fileFailed` when it cannot be read; `.invalidConfiguration` with every problem, one a line, each
    ///   with file, line, key and reason.
    static func load(
        file: String, defaults: DefaultPaths, override: Override = { (_) throws(IoTError) in }
    ) throws(IoTError) -> Configuration {
        try parse(try text(of: file), file: file, defaults: defaults, override: override)
    }

    /// A small file as UTF-8.
    static func text(of file: String) throws(IoTError) -> String {
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
        return text
    }

    /// - Parameter file: the name for messages, and what relative paths in the text are relative to.
    static func parse(
        _ text: String, file: String, defaults: DefaultPaths, override: Override = { (_) throws(IoTError) in }
    ) throws(IoTError) -> Configuration {
        let directory = URL(fileURLWithPath: file).deletingLastPathComponent().path
        return try parse(
            text, context: ConfigurationKey.Context(file: file, directory: directory),
            over: Configuration(defaults: defaults), override: override)
    }

    /// - Parameter keys: those that the file may have beside `cameras`.
    static func parse(
        _ text: String, context: ConfigurationKey.Context, over configuration: Configuration,
        keys: [ConfigurationKey] = ConfigurationKey.all, override: Override = { (_) throws(IoTError) in }
    ) throws(IoTError) -> Configuration {
        var reader = ConfigurationReader(context: context, configuration: configuration, keys: keys)
        let root = reader.read(text)
        try override(&reader.configuration)
        reader.checkTogether(root)
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
        if let file = media.turnSecretFile { files.append(("media.turnSecretFile", file)) }
        for (key, path) in files {
            do throws(IoTError) {
                _ = try SecretFile.read(path)
            } catch {
                throw error.withMessage("\(key): \(error.message)")
            }
        }
        try checkCertificates()
    }

    /// That they hold what they should be is told by those who use them.
    private func checkCertificates() throws(IoTError) {
        let certificates = [
            ("hub.tls.certificateFile", hub.tls.certificateFile), ("api.certificateFile", api.certificateFile),
            ("link.certificateAuthorityFile", link.certificateAuthorityFile),
        ]
        for case (let key, let path?) in certificates {
            let text: String
            do throws(IoTError) {
                text = try Self.text(of: path)
            } catch {
                throw error.withMessage("\(key): \(error.message)")
            }
            guard text.contains("-----BEGIN CERTIFICATE-----") else {
                throw IoTError(.invalidConfiguration, "\(key): \(path) holds no certificate in PEM")
            }
        }
        for case (let key, let path?) in [("hub.tls.keyFile", hub.tls.keyFile), ("api.keyFile", api.keyFile)] {
            do throws(IoTError) {
                guard
                    let key = try PrivateFile.bytes(
                        of: path, limit: Self.maximumFileSize, secrecy: .ownerAndReadingGroup)
                else { throw PrivateFile.missing(path) }
                guard String(decoding: key, as: UTF8.self).contains("PRIVATE KEY-----") else {
                    throw IoTError(.invalidConfiguration, "\(path) holds no private key in PEM")
                }
            } catch {
                throw error.withMessage("\(key): \(error.message)")
            }
        }
    }
}
