import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore

/// Transcodes a camera's sound to Opus, once for all its browsers, on its own thread, while there are any.
///
/// `@unchecked Sendable`: `transcoder` is used only on the worker's thread, the rest only on the camera's event loop.
final class BrowserSound: @unchecked Sendable {
    /// How many audio frames may wait for the thread: some seconds. Further frames are dropped and leave a gap.
    private static let limit = 64

    private let eventLoop: any EventLoop
    private let worker: SerialWorker
    private let transcoder: OpusTranscoder
    private var onFrame: ((MediaFrame) -> Void)?
    private(set) var dropped = 0

    /// `onFrame` gets the packets on the event loop.
    ///
    /// - Throws: `codecUnsupported` if the sound cannot be decoded here.
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
            // Only running out of memory can cause an error, and then the next frame fails too.
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
