import Foundation
import IoTCore
import MediaCodec
import NIOCore

/// Where a camera's frames are read from. Blocks its caller.
protocol CameraInput {
    var video: VideoParameters? { get }
    var audio: AudioParameters? { get }
    /// The tracks that cannot be carried: `audio G726`.
    var unsupportedTracks: [String] { get }

    /// The next frame; `nil` at the end of a file.
    func readFrame() throws(IoTError) -> MediaFrame?
    /// Starts a file again.
    func rewind() throws(IoTError)
}

extension MediaDemuxer: CameraInput {}

extension CameraSettings {
    /// Opens the source: an RTSP camera with our own client, unless it has what only libav reads; a file with libav.
    ///
    /// - Parameter eventLoop: for the sockets; `nil` for one of the process's.
    func openInput(
        eventLoop: (any EventLoop)?, cancellation: DemuxerCancellation
    ) throws(IoTError) -> any CameraInput {
        if isLive, Self.usesOwnClient, let reader = try openRTSP(eventLoop, cancellation) { return reader }
        var options = DemuxerOptions()
        options.rtspTransport = rtspTransport
        return try MediaDemuxer(url: url, options: options, cancellation: cancellation)
    }

    /// `nil` if libav may do better.
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

    /// For benches: docs/rtsp.md.
    private static let usesOwnClient = ProcessInfo.processInfo.environment["IOTVIDEOD_RTSP_READER"] != "libav"
}
