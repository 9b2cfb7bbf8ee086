import IoTCore
import MediaCodec
import NIOCore

/// Makes a recording's bytes. Confined to one thread.
final class RecordingWriter {
    private let stream: ChunkStream
    private var video: VideoParameters?
    private let audio: AudioParameters?
    private var muxer: MP4Stream?
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

    /// Returns false when the recording has ended. It ends with an error if the rotation changes, because an MP4
    /// track has one rotation.
    func write(
        _ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline, _ rotation: PictureRotation = .none
    ) -> Bool {
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
            if muxer == nil {
                video?.rotation = rotation
                muxer = try MP4Stream(video: video, audio: audio)
            } else if let video, video.rotation != rotation {
                throw IoTError(.videoSizeChanged, "the camera's picture was turned", remedy: "start a new recording")
            }
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
