/// The kind of a camera's source.
package enum CameraSourceKind: Sendable, Hashable {
    /// `rtsp://…` or `rtsps://…`
    case rtsp
    /// A path.
    case file
    /// `v4l2:/dev/…`: a capture device of this machine.
    case v4l2

    /// The kind in error messages.
    package var form: String {
        switch self {
        case .rtsp: "rtsp://"
        case .file: "files"
        case .v4l2: "v4l2:"
        }
    }
}

extension CameraSettings {
    private static let devicePrefix = "v4l2:"

    /// The kind of a checked `url`.
    package var sourceKind: CameraSourceKind {
        if url.hasPrefix(Self.devicePrefix) { return .v4l2 }
        let isFile = url.isAbsolutePath || url.hasPrefix("file://") || !url.contains("://")
        return isFile ? .file : .rtsp
    }

    /// The path of a V4L2 camera's device.
    package var devicePath: String { String(url.dropFirst(Self.devicePrefix.count)) }
}
