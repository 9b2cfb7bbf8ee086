import IoTCore
import MediaCodec
import NIOCore

/// Makes a recording's bytes. Confined to one thread.
final class RecordingWriter {
    private let stream: ChunkStream
    private let video: VideoParameters?
    private let audio: AudioParameters?
    private var muxer: FragmentedMP4Muxer?
    private var timeline = RecordingTimeline()
    /// Pictures still to be written; `nil` for all.
    private var remaining: Int?
    /// The time of the latest picture in the file, µs.
    private var latest = Int64.min

    init(video: VideoParameters?, audio: AudioParameters?, frames: Int?, stream: ChunkStream) {
        self.video = video
        self.audio = audio
        self.stream = stream
        remaining = frames
    }

    /// Returns false when the recording has ended.
    func write(_ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline) -> Bool {
        do throws(IoTError) {
            let place = timeline.place(frame, senderTime: senderTime, presentAt: presentAt, hasVideo: video != nil)
            guard let placed = place else {
                stream.letGo()
                return true
            }
            if placed.kind == .video, let left = remaining {
                guard left > 0 || placed.pts < latest else {
                    finish(nil)
                    return false
                }
                remaining = left - 1
                latest = max(latest, placed.pts)
            }
            if muxer == nil { muxer = try FragmentedMP4Muxer(video: video, audio: audio) }
            guard let chunk = try muxer?.write(placed), chunk.readableBytes > 0 else { return true }
            return stream.write(chunk)
        } catch {
            finish(error)
            return false
        }
    }

    func finish(_ reason: IoTError?) {
        guard muxer != nil || reason != nil else {
            let error = IoTError(
                .messageTimeout, "no picture came while the recording ran",
                remedy: "check the camera's state: `iotctl device list`")
            return stream.fail(error)
        }
        if let rest = muxer?.finish(), rest.readableBytes > 0 { _ = stream.write(rest) }
        muxer = nil
        if let reason { stream.fail(reason) } else { stream.finish() }
    }
}
