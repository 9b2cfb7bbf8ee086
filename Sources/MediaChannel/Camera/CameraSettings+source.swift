import Foundation
public import IoTCore
import MediaCodec

/// The camera's source: `url` contains the user name and the password if the source requires them.
extension CameraSettings {
    var isLive: Bool { sourceKind != .file }

    /// Opens the source. Blocks its caller.
    func open(_ cancellation: DemuxerCancellation) throws(IoTError) -> any SourceReader {
        guard sourceKind != .v4l2 else {
            let options = CaptureOptions(width: pictureSize.width, height: pictureSize.height, frameRate: frameRate)
            return try CaptureReader(path: devicePath, options: options, cancellation: cancellation)
        }
        var options = DemuxerOptions()
        options.rtspTransport = rtspTransport
        return try MediaDemuxer(url: url, options: options, cancellation: cancellation)
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
