import CPNG
public import IoTCore

extension QRCode {
    /// The maximum size of a picture, in pixels a side.
    public static let maximumPictureSize = 4096

    /// The pixels of each module in a picture of `size` pixels a side.
    public func moduleSize(inPictureOf size: Int) -> Int {
        size / widthWithQuietZone
    }

    /// A greyscale PNG of exactly `size` × `size` pixels. Every module has the same whole number of pixels; the rest
    /// widens the quiet zone.
    ///
    /// Throws `invalidQRInput` for a size that gives a module less than a pixel, or is above 4096.
    public func png(size: Int) throws(IoTError) -> [UInt8] {
        guard (widthWithQuietZone...Self.maximumPictureSize).contains(size) else {
            throw IoTError(
                .invalidQRInput,
                "size: \(size) pixels do not do; this code needs \(widthWithQuietZone) to \(Self.maximumPictureSize)")
        }
        let scale = moduleSize(inPictureOf: size)
        let margin = (size - width * scale) / 2
        var pixels = [UInt8](repeating: 255, count: size * size)
        for row in 0..<width {
            for column in 0..<width where isDark(row: row, column: column) {
                for line in 0..<scale {
                    let start = (margin + row * scale + line) * size + margin + column * scale
                    for pixel in start..<start + scale { pixels[pixel] = 0 }
                }
            }
        }
        return try Self.encodePNG(pixels, size: UInt32(size))
    }

    private static func encodePNG(_ pixels: [UInt8], size: UInt32) throws(IoTError) -> [UInt8] {
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        image.width = size
        image.height = size
        image.format = UInt32(PNG_FORMAT_GRAY)
        defer { png_image_free(&image) }
        // The first call only returns the size.
        var length = png_alloc_size_t(0)
        guard png_image_write_to_memory(&image, nil, &length, 0, pixels, 0, nil) != 0 else {
            throw IoTError(.internalFailure, "libpng could not measure the picture")
        }
        var bytes = [UInt8](repeating: 0, count: Int(length))
        guard png_image_write_to_memory(&image, &bytes, &length, 0, pixels, 0, nil) != 0 else {
            throw IoTError(.internalFailure, "libpng could not write the picture")
        }
        return Array(bytes.prefix(Int(length)))
    }
}
