import CFFmpeg
import IoTCore

/// Audio encoding.
extension CodecContext {
    /// Allocates space in `frame` for samples in the encoder's format.
    ///
    /// - Returns: the frame's planes.
    func makeFrame(
        sampleCount: Int, pts: Int64
    ) throws(IoTError) -> UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?> {
        av_frame_unref(frame)
        frame.pointee.format = pointer.pointee.sample_fmt.rawValue
        frame.pointee.nb_samples = Int32(sampleCount)
        frame.pointee.sample_rate = pointer.pointee.sample_rate
        av_channel_layout_copy(&frame.pointee.ch_layout, &pointer.pointee.ch_layout)
        frame.pointee.pts = pts
        guard av_frame_get_buffer(frame, 0) >= 0, let planes = frame.pointee.extended_data else {
            throw IoTError.outOfMemory()
        }
        return planes
    }
}
