import IoTCore

/// The functions of libzbar (https://github.com/mchehab/zbar, zbar.h) that the scanner uses.
struct ZBarLibrary: Sendable {
    typealias Make = @convention(c) @Sendable () -> OpaquePointer?
    typealias Destroy = @convention(c) @Sendable (OpaquePointer) -> Void
    typealias Configure = @convention(c) @Sendable (OpaquePointer, CInt, CInt, CInt) -> CInt
    typealias SetFormat = @convention(c) @Sendable (OpaquePointer, CUnsignedLong) -> Void
    typealias SetSize = @convention(c) @Sendable (OpaquePointer, CUnsignedInt, CUnsignedInt) -> Void
    typealias SetData =
        @convention(c) @Sendable (OpaquePointer, UnsafeRawPointer, CUnsignedLong, OpaquePointer?) -> Void
    typealias Scan = @convention(c) @Sendable (OpaquePointer, OpaquePointer) -> CInt
    typealias Follow = @convention(c) @Sendable (OpaquePointer) -> OpaquePointer?
    typealias Bytes = @convention(c) @Sendable (OpaquePointer) -> UnsafePointer<UInt8>?
    typealias Count = @convention(c) @Sendable (OpaquePointer) -> CUnsignedInt

    let makeScanner: Make
    let destroyScanner: Destroy
    let configure: Configure
    let makeImage: Make
    let destroyImage: Destroy
    let setFormat: SetFormat
    let setSize: SetSize
    let setData: SetData
    let scan: Scan
    let firstSymbol: Follow
    let nextSymbol: Follow
    let bytes: Bytes
    let byteCount: Count

    /// Loaded once, at the first use.
    private static let loaded = Result { () throws(IoTError) in try ZBarLibrary() }

    /// Throws 25016 if the library is not installed.
    static func load() throws(IoTError) -> ZBarLibrary { try loaded.get() }

    private init() throws(IoTError) {
        let library = try SharedLibrary(file: "libzbar.so.0", use: "which reads QR codes", package: "libzbar0")
        makeScanner = try library.function("zbar_image_scanner_create")
        destroyScanner = try library.function("zbar_image_scanner_destroy")
        configure = try library.function("zbar_image_scanner_set_config")
        makeImage = try library.function("zbar_image_create")
        destroyImage = try library.function("zbar_image_destroy")
        setFormat = try library.function("zbar_image_set_format")
        setSize = try library.function("zbar_image_set_size")
        setData = try library.function("zbar_image_set_data")
        scan = try library.function("zbar_scan_image")
        firstSymbol = try library.function("zbar_image_first_symbol")
        nextSymbol = try library.function("zbar_symbol_next")
        bytes = try library.function("zbar_symbol_get_data")
        byteCount = try library.function("zbar_symbol_get_data_length")
    }
}
