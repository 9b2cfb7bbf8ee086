import Foundation
public import IoTCore
import MediaCodec
import NIOCore
package import RTSP

/// The camera's source: `url` contains the user name and the password if the source requires them.
extension CameraSettings {
    var isLive: Bool { sourceKind != .file }

    /// How the sources of the definitions below `high` are read, and those of further cameras.
    func openSources(on eventLoop: any EventLoop) -> [CameraDefinitions.Place: CameraDefinitions.OpenSource] {
        var sources: [CameraDefinitions.Place: CameraDefinitions.OpenSource] = [:]
        for (definition, place) in Self.definitionSources {
            sources[.definition(definition)] = self[keyPath: place].map { open($0, on: eventLoop) }
        }
        for (index, url) in furtherSources.enumerated() {
            sources[.camera(UInt8(index + 1))] = open(url, on: eventLoop)
        }
        return sources
    }

    private func open(_ url: String, on eventLoop: any EventLoop) -> CameraDefinitions.OpenSource {
        var settings = self
        settings.url = url
        return { [settings] onEvent in
            let source = CameraSource(settings, eventLoop: eventLoop, onEvent: onEvent)
            source.start()
            return { onEnd in
                source.stop()
                source.whenEnded(onEnd)
            }
        }
    }

    /// Opens the source. Blocks its caller. Our own client reads RTSP cameras; libav reads files, and cameras with a
    /// track that only libav supports. An error of the client's protocol never leads to libav, because the client's
    /// limits would not apply.
    ///
    /// - Parameters:
    ///   - eventLoop: The loop of an RTSP camera's sockets; `nil` chooses one.
    ///   - needsLibAV: Whether the camera has such a track. Keep it for the next call: the camera is then opened once.
    func open(
        eventLoop: (any EventLoop)?, needsLibAV: inout Bool, _ cancellation: DemuxerCancellation
    ) throws(IoTError) -> any SourceReader {
        guard sourceKind != .v4l2 else {
            let options = CaptureOptions(width: pictureSize.width, height: pictureSize.height, frameRate: frameRate)
            return try CaptureReader(path: devicePath, options: options, cancellation: cancellation)
        }
        if isLive, Self.usesOwnClient, !needsLibAV {
            if let reader = try openRTSP(eventLoop, cancellation) { return reader }
            needsLibAV = true
        }
        var options = DemuxerOptions()
        options.rtspTransport = rtspTransport
        do throws(IoTError) {
            return try MediaDemuxer(url: url, options: options, cancellation: cancellation)
        } catch {
            // The camera's tracks may have changed.
            if error.code == .sourceUnsupported { needsLibAV = false }
            throw error
        }
    }

    /// `nil` if libav supports more of the camera's tracks, or if only libav reads the URL.
    private func openRTSP(
        _ eventLoop: (any EventLoop)?, _ cancellation: DemuxerCancellation
    ) throws(IoTError) -> RTSPCameraReader? {
        do throws(IoTError) {
            return try RTSPCameraReader(self, eventLoop: eventLoop, cancellation: cancellation)
        } catch {
            guard error.underlying is OtherReaderNeeded else { throw error }
            return nil
        }
    }

    /// How our own client reads the camera or speaks to it; `nil` for a URL that it does not support.
    package var rtspConfiguration: RTSPClientConfiguration? {
        guard let target = ServiceURL(url, maximumSize: Self.longestURL, checksName: false),
            ["rtsp", "rtsps"].contains(target.scheme)
        else { return nil }
        // The user name and the password in the URL, decoded.
        let parts = URLComponents(string: url)
        let credentials = parts?.user.map { BasicCredentials(username: $0, password: parts?.password ?? "") }
        var configuration = RTSPClientConfiguration(url: target, credentials: credentials, transport: rtspTransport)
        configuration.trust = trust
        return configuration
    }

    private static let longestURL = 4_096

    /// For benchmarks (docs/rtsp.md).
    private static let usesOwnClient = ProcessInfo.processInfo.environment["IOTVIDEOD_RTSP_READER"] != "libav"

    /// The path of a file camera.
    var filePath: String {
        url.hasPrefix("file://") ? String(url.dropFirst("file://".count)).removingPercentEncoding ?? url : url
    }

    /// The address without its password, for display and logs.
    public var redactedURL: String {
        Self.redacted(url)
    }

    /// The settings that responses include. The sources of definitions are opened with the camera's login.
    package var shownWithoutPasswords: CameraSettings {
        var shown = shown
        for (_, place) in Self.definitionSources {
            shown[keyPath: place] = shown[keyPath: place].map(Self.redacted)
        }
        shown.sources = shown.sources.flatMap { SourceList($0) }?.map(Self.redacted)
        return shown
    }

    private static func redacted(_ url: String) -> String {
        guard let scheme = url.range(of: "://"),
            let at = url[scheme.upperBound...].prefix(while: { $0 != "/" }).lastIndex(of: "@")
        else { return url }
        return url[..<scheme.upperBound] + "…" + url[at...]
    }
}
