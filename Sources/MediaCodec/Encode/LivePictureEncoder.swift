import CFFmpeg
package import IoTCore

/// Encodes the pictures of a live call with libx264. A picture of another size begins a new stream.
package final class LivePictureEncoder: ShownPictureEncoder {
    private let frameRate: Double
    private var encoder: H264Encoder?

    /// - Parameter frameRate: Pictures per second, for the bit rate control.
    package init(frameRate: Double) {
        self.frameRate = frameRate
    }

    package func encode(_ picture: VideoPicture, at time: Int64) throws(IoTError) -> MediaFrame? {
        // The chroma of 4:2:0 needs even sides, so the last row or column of an odd size is left out.
        let (width, height) = (picture.width & ~1, picture.height & ~1)
        guard width > 0, height > 0 else { throw IoTError(.invalidParameter, "a picture has no even part") }
        let encoder = try encoder(width: width, height: height)
        var converted: UnsafeMutablePointer<AVFrame>? = try PictureScaler.convert(
            picture, to: AV_PIX_FMT_YUV420P, isFullRange: false, size: (width, height))
        defer { av_frame_free(&converted) }
        guard av_frame_copy(try encoder.writableFrame(), converted) >= 0 else { throw IoTError.outOfMemory() }
        return try encoder.encode(at: time)
    }

    private func encoder(width: Int, height: Int) throws(IoTError) -> H264Encoder {
        if let encoder, encoder.width == width, encoder.height == height { return encoder }
        let encoder = try H264Encoder(width: width, height: height, frameRate: frameRate)
        self.encoder = encoder
        return encoder
    }
}
