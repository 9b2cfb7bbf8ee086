import Foundation
public import IoTCore

/// What a camera plays: `url` holds the user name and the password where the source wants them.
extension CameraSettings {
    var isLive: Bool {
        url.contains("://") && !url.hasPrefix("file://")
    }

    /// A file camera's path.
    var filePath: String {
        url.hasPrefix("file://") ? String(url.dropFirst("file://".count)).removingPercentEncoding ?? url : url
    }

    /// The address without its password, for people and logs.
    public var redactedURL: String {
        guard let scheme = url.range(of: "://"),
            let at = url[scheme.upperBound...].prefix(while: { $0 != "/" }).lastIndex(of: "@")
        else { return url }
        return url[..<scheme.upperBound] + "…" + url[at...]
    }
}
