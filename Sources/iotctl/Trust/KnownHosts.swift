import Foundation
import IoTCore

/// The certificates that were trusted on first use, by `HOST:PORT`. Stored in a text file with one line for each.
struct KnownHosts: Equatable, Sendable {
    private static let header = "# Certificates that iotctl trusts. Remove a line to forget one.\n"
    /// No more than this is read, in bytes.
    private static let maximumSize = 4 << 20

    private(set) var entries: [String: TrustedCertificate] = [:]

    subscript(host: String) -> TrustedCertificate? {
        get { entries[host] }
        set { entries[host] = newValue }
    }

    // MARK: Text

    /// - Throws: `.fileFailed` with the number of the damaged line.
    init(parsing text: String = "", name: String = "") throws {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty && !line.hasPrefix("#") {
            let fields = line.split(separator: " ")
            guard fields.count == 4, let kind = TrustedCertificate.Kind(rawValue: String(fields[1])),
                let der = Data(base64Encoded: String(fields[3])),
                TrustedCertificate.fingerprint(Array(der)) == fields[2]
            else {
                throw IoTError(.fileFailed, "\(name) line \(index + 1) is damaged", remedy: "remove that line")
            }
            entries[String(fields[0])] = TrustedCertificate(kind: kind, der: Array(der))
        }
    }

    var text: String {
        Self.header
            + entries.sorted { $0.key < $1.key }.map { host, certificate in
                let der = Data(certificate.der).base64EncodedString()
                return "\(host) \(certificate.kind.rawValue) \(certificate.fingerprint) \(der)\n"
            }.joined()
    }

    // MARK: File

    /// `$XDG_STATE_HOME/iotctl/known_hosts`, or in `~/.local/state`.
    static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        let state = environment["XDG_STATE_HOME"].flatMap { $0.isAbsolutePath ? $0 : nil }
        return (state ?? NSHomeDirectory() + "/.local/state") + "/iotctl/known_hosts"
    }

    /// Loads the file; empty if there is none.
    ///
    /// - Throws: `.fileFailed`.
    static func load(_ path: String) throws -> KnownHosts {
        guard FileManager.default.fileExists(atPath: path) else { return try KnownHosts() }
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            let data = try file.read(upToCount: maximumSize) ?? Data()
            return try KnownHosts(parsing: String(decoding: data, as: UTF8.self), name: path)
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.fileFailed, "\(path) cannot be read: \(FailureReason.of(error))", underlying: error)
        }
    }

    /// Replaces the file in one step.
    ///
    /// - Throws: `.fileFailed`.
    func save(_ path: String) async throws {
        let folder = (path as NSString).deletingLastPathComponent
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw IoTError(.fileFailed, "\(folder) cannot be made: \(FailureReason.of(error))", underlying: error)
        }
        let temporary = "\(path).\(getpid())"
        let output = try await FileOutput.open(temporary, mode: 0o600)
        try await output.write(Array(text.utf8))
        try await output.close()
        guard rename(temporary, path) == 0 else {
            let failure = DescriptorWriting.failure("\(path) cannot be written")
            unlink(temporary)
            throw failure
        }
    }
}
