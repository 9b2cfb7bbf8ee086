import Foundation
import IoTCore

/// The functions of libzbar (https://github.com/mchehab/zbar, zbar.h) that the scanner uses.
///
/// The library is loaded for the first picture and not linked: a daemon that never scans a code does not need it and
/// does not use memory for it. It then stays loaded.
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

    private static let file = "libzbar.so.0"

    /// Loaded once, at the first use.
    private static let loaded = Result { () throws(IoTError) in try ZBarLibrary() }

    /// Throws 25016 if the library is not installed.
    static func load() throws(IoTError) -> ZBarLibrary { try loaded.get() }

    private init() throws(IoTError) {
        guard let handle = dlopen(Self.file, RTLD_NOW | RTLD_LOCAL) else {
            throw IoTError(
                .codecUnsupported, "\(Self.file), which reads QR codes, is not installed",
                remedy: "install it: apt-get install libzbar0")
        }
        func find<Function>(_ name: String, as type: Function.Type) throws(IoTError) -> Function {
            guard let symbol = dlsym(handle, "zbar_\(name)") else {
                throw IoTError(.codecUnsupported, "\(Self.file) lacks zbar_\(name)", remedy: "install another version")
            }
            return unsafeBitCast(symbol, to: type)
        }
        makeScanner = try find("image_scanner_create", as: Make.self)
        destroyScanner = try find("image_scanner_destroy", as: Destroy.self)
        configure = try find("image_scanner_set_config", as: Configure.self)
        makeImage = try find("image_create", as: Make.self)
        destroyImage = try find("image_destroy", as: Destroy.self)
        setFormat = try find("image_set_format", as: SetFormat.self)
        setSize = try find("image_set_size", as: SetSize.self)
        setData = try find("image_set_data", as: SetData.self)
        scan = try find("scan_image", as: Scan.self)
        firstSymbol = try find("image_first_symbol", as: Follow.self)
        nextSymbol = try find("symbol_next", as: Follow.self)
        bytes = try find("symbol_get_data", as: Bytes.self)
        byteCount = try find("symbol_get_data_length", as: Count.self)
    }
}
