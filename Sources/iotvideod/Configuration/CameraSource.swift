import Foundation
import GatewayAPI
import IoTCore

/// Where a camera's frames come from: an `rtsp://` URL or a file. Nothing that starts a program.
struct CameraSource: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case rtsp
        case file
    }

    let kind: Kind
    /// As libavformat takes it: the URL, or the file's path.
    let url: String

    /// - Parameter directory: what a relative file path is relative to.
    init(_ text: String, relativeTo directory: String) throws(IoTError) {
        guard !text.isEmpty, !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw IoTError(.invalidConfiguration, "a camera's URL may not be empty or hold control characters")
        }
        switch CameraRequest.scheme(of: text) {
        case nil:
            self.kind = .file
            self.url = text.hasPrefix("/") ? text : directory + "/" + text
        case "rtsp":
            let parts = URLComponents(string: text)
            guard let host = parts?.host, !host.isEmpty else {
                throw IoTError(
                    .invalidConfiguration, "the RTSP URL names no host", remedy: "write it as rtsp://HOST[:PORT]/PATH")
            }
            if let port = parts?.port, !(1...65_535).contains(port) {
                throw IoTError(
                    .invalidConfiguration, "the RTSP URL names port \(port); ports are 1 to 65535",
                    remedy: "write it as rtsp://HOST[:PORT]/PATH")
            }
            self.kind = .rtsp
            self.url = text
        case "file":
            guard let parts = URLComponents(string: text), parts.path.hasPrefix("/"),
                ["", "localhost"].contains(parts.host?.lowercased() ?? "")
            else {
                throw IoTError(
                    .invalidConfiguration, "a file URL needs an absolute path of this machine",
                    remedy: "write it as file:///PATH")
            }
            self.kind = .file
            self.url = parts.path
        case let scheme?:
            // What libavformat or another gateway would take for a protocol: `exec:…`, `pipe:0`.
            throw IoTError(
                .invalidConfiguration,
                "'\(scheme.prefix(64)):' is no source; there are rtsp://…, file:///… and the path of a file",
                remedy: "give one of these; ./NAME for a file with a colon in its name")
        }
    }

    /// - Parameter url: as another `CameraSource` holds it.
    init(checked url: String) {
        kind = CameraRequest.scheme(of: url) == nil ? .file : .rtsp
        self.url = url
    }

    /// True when the URL itself holds a password.
    var holdsPassword: Bool {
        kind == .rtsp && CameraRequest.holdsPassword(url)
    }

    var holdsUser: Bool {
        kind == .rtsp && URLComponents(string: url)?.user != nil
    }

    /// The user name and the password in the URL, decoded, and the URL without them.
    var apart: (url: String, username: String?, password: String?) {
        guard kind == .rtsp, var parts = URLComponents(string: url) else { return (url, nil, nil) }
        let (username, password) = (parts.user, parts.password)
        // As it was written: some cameras take no other writing.
        guard username != nil || password != nil else { return (url, nil, nil) }
        parts.user = nil
        parts.password = nil
        return (parts.string ?? url, username, password)
    }

    /// Whether both are RTSP at the same host and port.
    func hasHost(of other: CameraSource) -> Bool {
        guard kind == .rtsp, other.kind == .rtsp, let own = URLComponents(string: url),
            let others = URLComponents(string: other.url)
        else { return false }
        return own.host?.lowercased() == others.host?.lowercased() && (own.port ?? 554) == (others.port ?? 554)
    }

    func url(username: String, password: String?) -> String {
        guard kind == .rtsp, var parts = URLComponents(string: url) else { return url }
        // RFC 3986 §3.2.1 allows more than this unescaped; libavformat splits at '@' and ':'.
        let allowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        parts.percentEncodedUser = username.addingPercentEncoding(withAllowedCharacters: allowed)
        parts.percentEncodedPassword = password?.addingPercentEncoding(withAllowedCharacters: allowed)
        return parts.string ?? url
    }
}
