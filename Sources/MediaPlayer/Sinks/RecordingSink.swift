import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Synchronization

/// Writes coded frames, as they came, as fragmented MP4, on a thread of its own.
///
/// `@unchecked Sendable`: all but `stream` and `isEnding` is used on `worker` alone.
final class RecordingSink: Recorder, @unchecked Sendable {
    let stream: ChunkStream
    private let worker: SerialWorker
    private let video: VideoParameters?
    private let audio: AudioParameters?
    private var muxer: FragmentedMP4Muxer?
    private var timeline = RecordingTimeline()
    /// Pictures that are still wanted; `nil` for all.
    private var remaining: Int?
    /// The latest picture's time in the file, µs.
    private var latest = Int64.min
    private var isEnded = false
    private let isEnding = Atomic<Bool>(false)

    /// - Parameter frames: ends after this many pictures and their sound; with B-frames after the group in which the
    ///   last of them is, since a picture that others refer to comes before those that are shown before it.
    init(video: VideoParameters?, audio: AudioParameters?, frames: Int? = nil, limit: Int = 16 << 20) {
        remaining = frames
        self.video = video
        self.audio = audio
        stream = ChunkStream(limit: limit)
        worker = SerialWorker(name: "recording", limit: 2048)
    }

    var isClosed: Bool { stream.isClosed }

    /// Takes a frame in decoding order; `senderTime` is its `pts` on the clock that both tracks share, µs.
    func take(_ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline) {
        let accepted = worker.submit { [self] in write(frame, senderTime: senderTime, presentAt: presentAt) }
        // What comes after the end is refused, too, while the worker still writes the file's own end.
        guard !accepted, !isEnding.load(ordering: .acquiring) else { return }
        stream.fail(IoTError(.slowReader, "the recording's reader was too slow: it was ended"))
    }

    func end(_ reason: IoTError?) {
        isEnding.store(true, ordering: .releasing)
        worker.submit(beyondLimit: true) { [self] in finish(reason) }
        worker.stop()
    }

    private func write(_ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline) {
        guard !isEnded else { return }
        do throws(IoTError) {
            let place = timeline.place(frame, senderTime: senderTime, presentAt: presentAt, hasVideo: video != nil)
            guard let placed = place else { return }
            if placed.kind == .video, let left = remaining {
                guard left > 0 || placed.pts < latest else { return finish(nil) }
                remaining = left - 1
                latest = max(latest, placed.pts)
            }
            if muxer == nil { muxer = try FragmentedMP4Muxer(video: video, audio: audio) }
            guard let chunk = try muxer?.write(placed), chunk.readableBytes > 0 else { return }
            // A recording with a hole would be worse than one that ends: nothing is dropped.
            if stream.write(chunk, patience: 5) != .written {
                throw IoTError(.slowReader, "the recording's reader was too slow: it was ended")
            }
        } catch {
            finish(error)
        }
    }

    private func finish(_ reason: IoTError?) {
        guard !isEnded else { return }
        isEnded = true
        guard muxer != nil || reason != nil else {
            let error = IoTError(
                .messageTimeout, "no picture came while the recording ran",
                remedy: "look at the camera's state: `iotctl device list`")
            return stream.fail(error)
        }
        if let rest = muxer?.finish(), rest.readableBytes > 0 { _ = stream.write(rest, patience: 5) }
        muxer = nil
        if let reason { stream.fail(reason) } else { stream.finish() }
    }
}
