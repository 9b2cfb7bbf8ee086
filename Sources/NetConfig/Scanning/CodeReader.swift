public import IoTCore

/// Finds the QR codes in a picture with libzbar. Not Sendable. Reading blocks, so use it on a dedicated thread.
public final class CodeReader {
    private let library: ZBarLibrary
    private let scanner: OpaquePointer

    // zbar.h: zbar_symbol_type_t and zbar_config_t.
    private static let allKinds: CInt = 0
    private static let qrCode: CInt = 64
    private static let enable: CInt = 0
    private static let binary: CInt = 4
    /// "Y800": one byte of brightness per pixel.
    private static let grey: CUnsignedLong = 0x3030_3859
    /// The maximum number of codes read from a picture; users show fewer.
    private static let mostCodes = 16

    /// Loads libzbar, unless it is loaded. Throws 25016 if it is not installed.
    public init() throws(IoTError) {
        library = try ZBarLibrary.load()
        guard let scanner = library.makeScanner() else { throw IoTError(.internalFailure, "zbar has no memory") }
        self.scanner = scanner
        _ = library.configure(scanner, Self.allKinds, Self.enable, 0)
        _ = library.configure(scanner, Self.qrCode, Self.enable, 1)
        // The code's raw bytes; otherwise zbar guesses the character set.
        _ = library.configure(scanner, Self.qrCode, Self.binary, 1)
    }

    deinit {
        library.destroyScanner(scanner)
    }

    /// The bytes of each code, in no particular order.
    public func read(_ picture: LumaPicture) -> [[UInt8]] {
        guard let image = library.makeImage() else { return [] }
        defer { library.destroyImage(image) }
        library.setFormat(image, Self.grey)
        library.setSize(image, CUnsignedInt(picture.width), CUnsignedInt(picture.height))
        return picture.pixels.withUnsafeBytes { pixels in
            guard let start = pixels.baseAddress else { return [] }
            library.setData(image, start, CUnsignedLong(pixels.count), nil)
            guard library.scan(scanner, image) > 0 else { return [] }
            var found: [[UInt8]] = []
            var symbol = library.firstSymbol(image)
            while let current = symbol, found.count < Self.mostCodes {
                let count = Int(library.byteCount(current))
                if let bytes = library.bytes(current), count <= QRCode.maximumByteCount * 2 {
                    found.append(Array(UnsafeBufferPointer(start: bytes, count: count)))
                }
                symbol = library.nextSymbol(current)
            }
            return found
        }
    }
}
