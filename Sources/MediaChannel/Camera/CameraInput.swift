import Foundation
import IoTCore
import MediaCodec
import NIOCore

/// A source of a camera's frames. Its functions block.
protocol CameraInput {
    var video: VideoParameters? { get }
    var audio: AudioParameters? { get }
    /// The tracks that are not supported, such as `audio G726`.
    var unsupportedTracks: [String] { get }

    /// The next frame; `nil` at the end of a file.
    func readFrame() throws(IoTError) -> MediaFrame?
    /// Continues at the beginning of a file.
    func rewind() throws(IoTError)
}

extension MediaDemuxer: CameraInput {}

extension CameraSettings {
    /// Opens the source. Our own client reads RTSP cameras; libav reads files, and cameras with a stream that the
    /// client does not support.
    ///
    /// - Parameter eventLoop: The loop of the sockets; `nil` chooses one.
    func openInput(
        eventLoop: (any EventLoop)?, cancellation: DemuxerCancellation
    ) throws(IoTError) -> any CameraInput {
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
}
