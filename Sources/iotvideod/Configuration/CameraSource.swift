import Foundation
import GatewayAPI
import IoTCore

/// Where a camera's frames come from: an `rtsp://` or `rtsps://` URL, a capture device or a file. A source never starts a program.
struct CameraSource: Sendable, Equatable {
    let kind: CameraSourceKind
    /// The URL or the file's path, as libavformat reads it; for a device, `v4l2:` and its path.
    let url: String

    /// - Parameter directory: the base of relative file paths.
    init(_ text: String, relativeTo directory: String) throws(IoTError) {
        guard !text.isEmpty, text.isPrintableOnOneLine else {
            throw IoTError(.invalidConfiguration, "a camera's URL may not be empty or contain control characters")
        }
        switch CameraRequest.scheme(of: text) {
        case nil:
            self.kind = .file
            self.url = try Self.filePath(text.isAbsolutePath ? text : directory + "/" + text)
        case "rtsp", "rtsps":
            let parts = URLComponents(string: text)
            guard let host = parts?.host, !host.isEmpty else {
                throw IoTError(
                    .invalidConfiguration, "the RTSP URL has no host", remedy: "write it as rtsp://HOST[:PORT]/PATH")
            }
            if let port = parts?.port, !(1...65_535).contains(port) {
                throw IoTError(
                    .invalidConfiguration, "the RTSP URL has port \(port), but ports are 1 to 65535",
                    remedy: "write it as rtsp://HOST[:PORT]/PATH")
            }
            self.kind = .rtsp
            self.url = text
        case "v4l2":
            // The path is not parsed as a URL, because names in /dev/v4l/by-path contain colons.
            let path = text.dropFirst("v4l2:".count)
            guard path.isAbsolutePath, !path.hasPrefix("//") else {
                throw IoTError(
                    .invalidConfiguration, "the V4L2 source has no absolute path",
                    remedy: "write it as v4l2:/dev/v4l/by-id/NAME or v4l2:/dev/video0")
            }
            self.kind = .v4l2
            self.url = "v4l2:" + path
        case "file":
            guard let parts = URLComponents(string: text), parts.path.isAbsolutePath,
                ["", "localhost"].contains(parts.host?.lowercased() ?? "")
            else {
                throw IoTError(
                    .invalidConfiguration, "a file URL needs an absolute path on this machine",
                    remedy: "write it as file:///PATH")
            }
            self.kind = .file
            self.url = try Self.filePath(parts.path)
        case let scheme?:
            // libavformat and other gateways read such a scheme as a protocol: `exec:…`, `pipe:0`.
            throw IoTError(
                .invalidConfiguration,
                "'\(scheme.prefix(64)):' is not a camera source; sources are rtsp[s]://…, file:///…, v4l2:/dev/… and "
                    + "file paths",
                remedy: "use one of these; write ./NAME for a file with a colon in its name")
        }
    }

    /// - Throws: `.invalidConfiguration` for a capture device, which would be read as a clip. It needs its own scheme, so
    ///   that a source's kind does not depend on which devices are connected.
    private static func filePath(_ path: String) throws(IoTError) -> String {
        guard !path.hasPrefix("/dev/video"), !path.hasPrefix("/dev/v4l/") else {
            throw IoTError(
                .invalidConfiguration, "the URL of a capture device begins with v4l2:", remedy: "write v4l2:\(path)")
        }
        return path
    }

    /// - Parameter url: the `url` of another `CameraSource`.
    init(checked url: String) {
        kind = CameraSettings(url: url).sourceKind
        self.url = url
    }

    /// Whether the URL contains a password.
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
        // Return the original text: some cameras do not accept an equivalent spelling.
        guard username != nil || password != nil else { return (url, nil, nil) }
        parts.user = nil
        parts.password = nil
        return (parts.string ?? url, username, password)
    }

    /// Whether both are RTSP sources with the same host and port, and this one is encrypted if the other one is: it may
    /// then have the other one's login.
    func mayHaveLogin(of other: CameraSource) -> Bool {
        guard kind == .rtsp, other.kind == .rtsp, let own = URLComponents(string: url),
            let others = URLComponents(string: other.url)
        else { return false }
        return own.host?.lowercased() == others.host?.lowercased() && own.portOrDefault == others.portOrDefault
            && (isEncrypted || !other.isEncrypted)
    }

    var isEncrypted: Bool { CameraRequest.scheme(of: url) == "rtsps" }

    func url(username: String, password: String?) -> String {
        guard kind == .rtsp, var parts = URLComponents(string: url) else { return url }
        // Escapes more than RFC 3986 §3.2.1 requires, because libavformat splits at '@' and ':'.
        let allowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        parts.percentEncodedUser = username.addingPercentEncoding(withAllowedCharacters: allowed)
        parts.percentEncodedPassword = password?.addingPercentEncoding(withAllowedCharacters: allowed)
        return parts.string ?? url
    }
}

extension URLComponents {
    /// The port of an RTSP URL.
    fileprivate var portOrDefault: Int { port ?? (scheme?.lowercased() == "rtsps" ? 322 : 554) }
}
