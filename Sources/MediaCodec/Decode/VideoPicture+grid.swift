import CFFmpeg
public import IoTCore

extension VideoPicture {
    /// The picture's luma as a grid of means, row by row: each cell is the mean of the pixels that it covers, 0 to 255.
    ///
    /// - Throws: `mediaFailed` if its pixel format cannot be converted.
    public func lumaGrid(columns: Int, rows: Int) throws(IoTError) -> [UInt8] {
        var grey: UnsafeMutablePointer<AVFrame>? = try PictureScaler.convert(
            self, to: AV_PIX_FMT_GRAY8, isFullRange: true, size: (columns, rows), method: .mean)
        defer { av_frame_free(&grey) }
        guard let frame = grey, let plane = PictureFrame.plane(0, of: frame) else { throw IoTError.outOfMemory() }
        var cells: [UInt8] = []
        cells.reserveCapacity(columns * rows)
        for row in 0..<rows {
            cells += UnsafeBufferPointer(start: plane.begin + row * plane.stride, count: columns)
        }
        return cells
    }
}
