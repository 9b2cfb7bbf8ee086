import CFFmpeg
import IoTCore
import NIOCore

/// Encodes pictures as H.264 for live viewers, with libx264. Each picture gives its frame immediately, and there is a
/// key frame every two seconds. Uses only the calling thread, so a camera uses at most one processor core.
final class H264Encoder {
    /// µs between key frames.
    static let keyFrameInterval: Int64 = 2_000_000

    let width: Int
    let height: Int
    private let interval: Int64
    private let codec: CodecContext
    private let packet: CodecPacket
    private var assembler = AccessUnitAssembler(codec: .h264, extradata: [])
    private var count: Int64 = 0
    private var lastKeyFrame: Int64?

    /// The stream's parameters; `nil` before the first frame.
    private(set) var parameters: VideoParameters?

    /// - Parameters:
    ///   - width: even, as the chroma of 4:2:0 requires.
    ///   - height: even.
    ///   - frameRate: pictures per second, for the bit rate control.
    init(width: Int, height: Int, frameRate: Double) throws(IoTError) {
        self.width = width
        self.height = height
        interval = Int64(1_000_000 / frameRate)
        packet = try CodecPacket()
        codec = try CodecContext(.encoder, AV_CODEC_ID_H264, encoder: "libx264") { context throws(IoTError) in
            context.pointee.width = Int32(clamping: width)
            context.pointee.height = Int32(clamping: height)
            context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
            context.pointee.color_range = AVCOL_RANGE_MPEG
            let rate = av_d2q(frameRate, 1_001_000)
            context.pointee.framerate = rate
            context.pointee.time_base = av_inv_q(rate)
            context.pointee.thread_count = 1
            context.pointee.max_b_frames = 0
            // Never reached: `encode(at:)` forces key frames by time, because pictures can be missing.
            context.pointee.gop_size = Int32(clamping: Int(frameRate) * 60)
            let most = Self.mostBits(width: width, height: height, frameRate: frameRate)
            context.pointee.rc_max_rate = Int64(most)
            context.pointee.rc_buffer_size = Int32(clamping: most)
            for (option, value) in [
                // No delay: a picture does not wait for later ones.
                ("tune", "zerolatency"),
                // Encodes 720p at 30 frames per second on one core of a small box; slower presets do not.
                ("preset", "superfast"),
                // Every browser decodes Main.
                ("profile", "main"), ("crf", "23"),
                // No key frames except those that `encode(at:)` forces.
                ("forced-idr", "1"), ("x264-params", "scenecut=0"),
            ] where av_opt_set(context.pointee.priv_data, option, value, 0) < 0 {
                throw IoTError(.mediaFailed, "this build of libx264 has no option \(option) with \(value)")
            }
        }
        let frame = codec.frame
        frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
        frame.pointee.width = Int32(clamping: width)
        frame.pointee.height = Int32(clamping: height)
        guard av_frame_get_buffer(frame, 0) >= 0 else { throw IoTError.outOfMemory() }
    }

    /// The maximum bit rate, in bits per second: a tenth of a bit per pixel. Few scenes need this much.
    static func mostBits(width: Int, height: Int, frameRate: Double) -> Int {
        max(500_000, min(12_000_000, Int(Double(width * height) * frameRate / 10)))
    }

    /// The frame to write the next picture into: 4:2:0, limited range.
    func writableFrame() throws(IoTError) -> UnsafeMutablePointer<AVFrame> {
        guard av_frame_make_writable(codec.frame) >= 0 else { throw IoTError.outOfMemory() }
        return codec.frame
    }

    /// Encodes the picture in `writableFrame()`.
    ///
    /// - Parameter time: its time in µs, later than the previous one.
    func encode(at time: Int64) throws(IoTError) -> MediaFrame {
        // The encoder's pts is a count. The time does not pass through it, because the frame comes out immediately.
        codec.frame.pointee.pts = count
        count += 1
        let isKeyFrameDue = lastKeyFrame.map { time - $0 > Self.keyFrameInterval - interval / 2 } ?? true
        codec.frame.pointee.pict_type = isKeyFrameDue ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        let packets = try codec.encodeFrame(as: "H.264", through: packet)
        guard let bytes = packets.first?.bytes, packets.count == 1,
            let unit = bytes.withUnsafeReadableBytes({ assembler.assemble($0, isMarkedKey: false) })
        else { throw IoTError(.mediaFailed, "the H.264 encoder did not return a frame for a picture") }
        if unit.isKeyFrame { lastKeyFrame = time }
        if unit.didChangeParameterSets {
            parameters = VideoParameters(codec: .h264, parameterSets: assembler.store.parameterSets)
        }
        return MediaFrame(kind: .video, isKeyFrame: unit.isKeyFrame, pts: time, dts: time, bytes: unit.bytes)
    }
}
