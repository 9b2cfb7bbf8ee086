import Foundation
import IoTCore
import IoTLink

extension Configuration {
    /// The maximum size of a file, in bytes.
    static let maximumFileSize = 1 << 20

    /// The command line, which overrides the file.
    typealias Override = (inout Configuration) throws(IoTError) -> Void

    /// Reads a YAML file over `defaults`, and the command line over the file.
    ///
    /// - Throws: `.fileFailed` if the file cannot be read; `.invalidConfiguration` with one line for each problem:
    ///   file, line, key and reason.
    static func load(
        file: String, defaults: DefaultPaths, override: Override = { (_) throws(IoTError) in }
    ) throws(IoTError) -> Configuration {
        try parse(try text(of: file), file: file, defaults: defaults, override: override)
    }

    /// Reads a small UTF-8 file.
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

    /// - Parameter file: the name for messages. Its directory is the base of relative paths in the text.
    static func parse(
        _ text: String, file: String, defaults: DefaultPaths, override: Override = { (_) throws(IoTError) in }
    ) throws(IoTError) -> Configuration {
        let directory = URL(fileURLWithPath: file).deletingLastPathComponent().path
        return try parse(
            text, context: ConfigurationKey.Context(file: file, directory: directory),
            over: Configuration(defaults: defaults), override: override)
    }

    /// - Parameter keys: the keys that the file may contain, besides `cameras`.
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

    /// Reads every secret once, so that the start reports a missing or readable-by-others file.
    ///
    /// - Throws: `.fileFailed` or `.invalidConfiguration` with the key.
    func checkSecrets() throws(IoTError) {
        var files: [(key: String, path: String)] = cameras.compactMap { camera in
            camera.passwordFile.map { ("camera '\(camera.name)', passwordFile", $0) }
        }
        if let file = link.tokenFile { files.append(("link.tokenFile", file)) }
        if let file = media.turnSecretFile { files.append(("media.turnSecretFile", file)) }
        if let file = firmware.tokenFile { files.append(("firmware.tokenFile", file)) }
        if let file = provisioning.possessionFile { files.append(("provisioning.possessionFile", file)) }
        if let file = provisioning.passwordFile { files.append(("provisioning.passwordFile", file)) }
        if let file = provisioning.dryRunFile { files.append(("provisioning.dryRunFile", file)) }
        for (key, path) in files {
            do throws(IoTError) {
                _ = try SecretFile.read(path)
            } catch {
                throw error.withMessage("\(key): \(error.message)")
            }
        }
        _ = try recording.keys()
        try checkCertificates()
    }

    /// Checks only that the files contain PEM. Their users report invalid contents.
    private func checkCertificates() throws(IoTError) {
        let certificates = [
            ("hub.tls.certificateFile", hub.tls.certificateFile), ("api.certificateFile", api.certificateFile),
            ("link.certificateAuthorityFile", link.certificateAuthorityFile),
            ("firmware.certificateAuthorityFile", firmware.certificateAuthorityFile),
        ]
        for case (let key, let path?) in certificates {
            let text: String
            do throws(IoTError) {
                text = try Self.text(of: path)
            } catch {
                throw error.withMessage("\(key): \(error.message)")
            }
            guard text.contains("-----BEGIN CERTIFICATE-----") else {
                throw IoTError(.invalidConfiguration, "\(key): \(path) does not contain a PEM certificate")
            }
        }
        for case (let key, let path?) in [("hub.tls.keyFile", hub.tls.keyFile), ("api.keyFile", api.keyFile)] {
            do throws(IoTError) {
                guard
                    let key = try PrivateFile.bytes(
                        of: path, limit: Self.maximumFileSize, secrecy: .ownerAndReadingGroup)
                else { throw PrivateFile.missing(path) }
                guard String(decoding: key, as: UTF8.self).contains("PRIVATE KEY-----") else {
                    throw IoTError(.invalidConfiguration, "\(path) does not contain a PEM private key")
                }
            } catch {
                throw error.withMessage("\(key): \(error.message)")
            }
        }
    }
}
