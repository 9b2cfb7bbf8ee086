import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore

/// A camera's sound as Opus, made once for all its browsers on a thread of its own while there are any.
///
/// `@unchecked Sendable`: `transcoder` is used on the worker's thread alone, the rest on the camera's event loop.
final class BrowserSound: @unchecked Sendable {
    /// Frames of sound that may wait for the thread, some seconds; one more is dropped, and leaves a gap.
    private static let limit = 64

    private let eventLoop: any EventLoop
    private let worker: SerialWorker
    private let transcoder: OpusTranscoder
    private var onFrame: ((MediaFrame) -> Void)?
    private(set) var dropped = 0

    /// `onFrame` gets the packets on the event loop.
    ///
    /// - Throws: `codecUnsupported` for sound that cannot be decoded here.
    init(
        _ parameters: AudioParameters, eventLoop: any EventLoop, onFrame: @escaping (MediaFrame) -> Void
    ) throws(IoTError) {
        self.eventLoop = eventLoop
        self.onFrame = onFrame
        transcoder = try OpusTranscoder(parameters)
        worker = SerialWorker(name: "opus", limit: Self.limit)
    }

    func take(_ frame: MediaFrame) {
        let isTaken = worker.submit { [self] in
            // Only memory can run out, and then the next frame will tell.
            guard let packets = try? transcoder.transcode(frame), !packets.isEmpty else { return }
            eventLoop.execute { [self] in
                for packet in packets { onFrame?(packet) }
            }
        }
        if !isTaken { dropped += 1 }
    }

    func stop() {
        onFrame = nil
        worker.stop()
    }
}
