import IoTCore
import MediaChannel
import NIOCore
import RTP

/// Sends a reader's packets over the RTSP connection itself, between the responses (RFC 2326 §10.12).
final class ConnectionSink: ReaderSink {
    /// The largest number of bytes that wait for the socket, enough for a large key frame. The kernel stores more.
    private static let limit = 262_144

    private let output: RTSPOutput
    private let onEnd: @Sendable () -> Void

    init(_ output: RTSPOutput, onEnd: @escaping @Sendable () -> Void) {
        self.output = output
        self.onEnd = onEnd
    }

    var isReady: Bool { output.waitingBytes < Self.limit }

    func send(_ batch: ReaderBatch) { output.send(batch.bytes) }

    func send(_ run: PacketRun, index: Int) { run.bytes.withUnsafeReadableBytes { output.send($0) } }

    func ended(_ reason: IoTError) { onEnd() }
}
