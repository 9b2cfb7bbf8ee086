import Foundation
import IoTCore

/// The address of the daemon, and the authorization to use.
enum DaemonAddress: Sendable {
    /// Whoever can open the socket acts as the daemon's owner account.
    case unixSocket(SocketPath)
    case remote(RemoteDaemon)

    /// The name in messages.
    var description: String {
        switch self {
        case .unixSocket(let socket): socket.path
        case .remote(let remote): remote.url
        }
    }
}

/// A daemon's API over TCP.
struct RemoteDaemon: Sendable {
    /// `https://HOST:PORT`, without a slash at its end.
    let url: String
    /// A bearer token.
    let token: String
    let host: String
    let port: Int
    /// The certificates that are accepted from the daemon.
    private(set) var trust: ServerTrust

    /// - Parameters:
    ///   - tokenFile: a private file, or `-` for standard input.
    ///   - environment: `IOTCTL_TOKEN_FILE` is used if `tokenFile` is missing.
    /// - Throws: `.invalidParameter` for an invalid address, or one that would send the token unencrypted over a
    ///   network; `.unauthenticated` without a token file; the errors of reading it.
    init(
        url text: String, tokenFile: String?, authorityFile: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme, ["http", "https"].contains(scheme),
            let host = parts.host, !host.isEmpty, parts.user == nil, parts.password == nil, parts.query == nil,
            parts.fragment == nil, parts.path.isEmpty || parts.path == "/"
        else {
            throw IoTError(.invalidParameter, "--url must be https://HOST:PORT, not '\(text)'")
        }
        let isEncrypted = scheme == "https"
        let isLoopback = host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
        guard isEncrypted || isLoopback else {
            throw IoTError(
                .invalidParameter, "--url: http would send the token unencrypted to \(host)", remedy: "use https")
        }
        guard let file = tokenFile ?? environment["IOTCTL_TOKEN_FILE"], !file.isEmpty else {
            throw IoTError(
                .unauthenticated, "--url needs --token-file FILE",
                remedy: "create a token with `iotctl token create --api` on the daemon's machine")
        }
        url = text.hasSuffix("/") ? String(text.dropLast()) : text
        token = try SecretInput.read(file, what: "token").trimmingCharacters(in: .whitespacesAndNewlines)
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = parts.port ?? (isEncrypted ? 443 : 80)
        trust = authorityFile.map(ServerTrust.authorityFile) ?? .system
    }

    var isEncrypted: Bool { url.hasPrefix("https:") }

    /// The daemon's name in the file of known hosts.
    var hostAndPort: String { HostPort(host: host, port: port).description }

    /// The file of `--ca`.
    var authorityFile: String? {
        if case .authorityFile(let file) = trust { file } else { nil }
    }

    func trusting(_ trust: ServerTrust) -> RemoteDaemon {
        var copy = self
        copy.trust = trust
        return copy
    }
}
