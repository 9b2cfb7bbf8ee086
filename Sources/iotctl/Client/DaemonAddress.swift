import Foundation
import IoTCore

/// Where the daemon answers, and with what right we ask.
enum DaemonAddress: Sendable {
    /// Who may open the socket acts as its owner.
    case unixSocket(String)
    case remote(RemoteDaemon)

    /// How messages name it.
    var description: String {
        switch self {
        case .unixSocket(let path): path
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
    /// A PEM file with the only authority that is trusted; the system's without it.
    let authorityFile: String?

    /// - Parameters:
    ///   - tokenFile: a private file, or `-` for standard input.
    ///   - environment: `IOTCTL_TOKEN_FILE` stands in for the option.
    /// - Throws: `.invalidParameter` for an address that is none, or would send the token in the clear over a network.
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
        let isLoopback = host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
        guard scheme == "https" || isLoopback else {
            throw IoTError(
                .invalidParameter, "--url: http would send the token in the clear to \(host)", remedy: "ask for https")
        }
        guard let file = tokenFile ?? environment["IOTCTL_TOKEN_FILE"], !file.isEmpty else {
            throw IoTError(
                .unauthenticated, "--url needs --token-file FILE", remedy: "`iotctl token create --api` makes a token")
        }
        url = text.hasSuffix("/") ? String(text.dropLast()) : text
        token = try SecretInput.read(file, what: "token").trimmingCharacters(in: .whitespacesAndNewlines)
        self.authorityFile = authorityFile
    }
}
