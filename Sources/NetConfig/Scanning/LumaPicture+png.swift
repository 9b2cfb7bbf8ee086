import CPNG
public import IoTCore

extension LumaPicture {
    /// The picture of a PNG file in grey.
    ///
    /// Throws `invalidQRInput` for a file that is not a PNG, or has more than 32 million pixels.
    public init(png: [UInt8]) throws(IoTError) {
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        defer { png_image_free(&image) }
        guard png_image_begin_read_from_memory(&image, png, png.count) != 0 else {
            throw IoTError(.invalidQRInput, "the file is not a PNG picture")
        }
        image.format = UInt32(PNG_FORMAT_GRAY)
        let (width, height) = (Int(image.width), Int(image.height))
        guard width > 0, height > 0, width <= 16_384, height <= 16_384, width * height <= 32_000_000 else {
            throw IoTError(.invalidQRInput, "the picture is too large: at most 32 million pixels are read")
        }
        var pixels = [UInt8](repeating: 0, count: width * height)
        // Transparent pixels become white.
        var background = png_color(red: 255, green: 255, blue: 255)
        guard png_image_finish_read(&image, &background, &pixels, 0, nil) != 0,
            let picture = LumaPicture(width: width, height: height, pixels: pixels)
        else { throw IoTError(.invalidQRInput, "the PNG picture is damaged") }
        self = picture
    }
}
