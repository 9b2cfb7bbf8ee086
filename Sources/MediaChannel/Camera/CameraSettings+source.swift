import Foundation
public import IoTCore
import MediaCodec
import NIOCore

/// The camera's source: `url` contains the user name and the password if the source requires them.
extension CameraSettings {
    var isLive: Bool { sourceKind != .file }

    /// Opens the source. Blocks its caller. Our own client reads RTSP cameras; libav reads files, and cameras with a
    /// stream that the client does not support.
    ///
    /// - Parameter eventLoop: The loop of an RTSP camera's sockets; `nil` chooses one.
    func open(
        eventLoop: (any EventLoop)?, _ cancellation: DemuxerCancellation
    ) throws(IoTError) -> any SourceReader {
        guard sourceKind != .v4l2 else {
            let options = CaptureOptions(width: pictureSize.width, height: pictureSize.height, frameRate: frameRate)
            return try CaptureReader(path: devicePath, options: options, cancellation: cancellation)
        }
        if isLive, Self.usesOwnClient, let reader = try openRTSP(eventLoop, cancellation) { return reader }
        var options = DemuxerOptions()
        options.rtspTransport = rtspTransport
        return try MediaDemuxer(url: url, options: options, cancellation: cancellation)
    }

    /// `nil` if libav may support more of the camera's tracks.
    private func openRTSP(
        _ eventLoop: (any EventLoop)?, _ cancellation: DemuxerCancellation
    ) throws(IoTError) -> RTSPCameraReader? {
        do throws(IoTError) {
            let reader = try RTSPCameraReader(self, eventLoop: eventLoop, cancellation: cancellation)
            return reader?.isWhole == true ? reader : nil
        } catch {
            guard error.code == .sourceUnsupported else { throw error }
            return nil
        }
    }

    /// For benchmarks (docs/rtsp.md).
    private static let usesOwnClient = ProcessInfo.processInfo.environment["IOTVIDEOD_RTSP_READER"] != "libav"

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
