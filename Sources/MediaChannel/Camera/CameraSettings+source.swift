import Foundation
public import IoTCore

/// The camera's source: `url` contains the user name and the password if the source requires them.
extension CameraSettings {
    var isLive: Bool {
        url.contains("://") && !url.hasPrefix("file://")
    }

    /// The path of a file camera.
    var filePath: String {
        url.hasPrefix("file://") ? String(url.dropFirst("file://".count)).removingPercentEncoding ?? url : url
    }

    /// The address without its password, for display and logs.
    public var redactedURL: String {
        guard let scheme = url.range(of: "://"),
            let at = url[scheme.upperBound...].prefix(while: { $0 != "/" }).lastIndex(of: "@")
        else { return url }
        return url[..<scheme.upperBound] + "…" + url[at...]
    }
}
