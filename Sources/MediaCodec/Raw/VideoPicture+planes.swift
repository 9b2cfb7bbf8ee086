import CFFmpeg
public import IoTCore
public import NIOCore

extension VideoPicture {
    /// The widest and the highest picture that a program may make.
    public static let maximumSide = 16_384

    /// A picture that a program has made or changed: 8-bit 4:2:0, its planes one after another with unpadded rows, as
    /// `packedBytes()` returns for "yuv420p".
    ///
    /// - Throws: `invalidParameter` for sides that are odd or out of range, or for another number of bytes.
    public convenience init(yuv420p bytes: ByteBuffer, width: Int, height: Int, pts: Int64) throws(IoTError) {
        let sides = 2...Self.maximumSide
        guard sides.contains(width), sides.contains(height), width % 2 == 0, height % 2 == 0 else {
            throw IoTError(.invalidParameter, "the sides of a picture must be even and from 2 to \(Self.maximumSide)")
        }
        guard bytes.readableBytes == width * height * 3 / 2 else {
            throw IoTError(
                .invalidParameter,
                "a picture of \(width)x\(height) has \(width * height * 3 / 2) bytes, not \(bytes.readableBytes)")
        }
        var made = av_frame_alloc()
        defer { av_frame_free(&made) }
        guard let frame = made else { throw IoTError.outOfMemory() }
        frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
        frame.pointee.width = Int32(width)
        frame.pointee.height = Int32(height)
        frame.pointee.pts = pts
        guard av_frame_get_buffer(frame, 0) >= 0 else { throw IoTError.outOfMemory() }
        var rest = bytes
        for index in 0..<3 {
            let shift = index == 0 ? 0 : 1
            guard let plane = PictureFrame.plane(index, of: frame) else { throw IoTError.outOfMemory() }
            for row in 0..<(height >> shift) {
                guard let line = rest.readBytes(length: width >> shift) else { throw IoTError.outOfMemory() }
                (plane.begin + row * plane.stride).update(from: line, count: line.count)
            }
        }
        try self.init(taking: frame, isCorrupt: false)
    }
}
